import type { WebActionData } from '../../actions.ts';
import { renderInput, renderSelect } from '../../components/fields.ts';
import { countWords, formatCost } from '../../components/format.ts';
import { renderSchedule } from '../../components/schedule/render.ts';
import { type RunOutcome, renderKey, renderOutcome, renderStrip } from '../../components/status-icon.ts';
import {
  buildAddress,
  renderCell,
  renderPager,
  renderRow,
  renderRowHead,
  renderTable,
} from '../../components/tables.ts';
import { renderMoment, renderMomentWithDistance } from '../../components/times.ts';
import { type Html, html, raw } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { buildListAddress, type ListQuery, readListQuery, toQuery } from './list-query.ts';
import { describeLast, SIGNS } from './outcomes.ts';

type TaskList = WebActionData<'getTaskList'>;
type Row = TaskList['tasks'][number];

const STATUSES = [
  { value: '', text: 'All' },
  { value: 'active', text: 'Active' },
  { value: 'paused', text: 'Paused' },
  { value: 'failed', text: 'Failed' },
  { value: 'completed', text: 'Done' },
];

const SORTS = [
  { value: 'next', text: 'Next run' },
  { value: 'name', text: 'Name' },
  { value: 'newest', text: 'Newest' },
];

export async function showTasks(context: UserPageContext): Promise<Page> {
  const query = readListQuery(context.request);
  const { search, status, sort, cursor } = query;
  const list = unwrap(
    await context.actions.getTaskList(context.session, { sort, status, search: search || undefined, cursor }),
  );
  return {
    title: 'Tasks',
    isLive: true,
    aside: html`<a class="button primary" href="/tasks/new">New task</a>`,
    body: list.total === 0 ? renderFirstStep() : html`${renderTools(query)}${renderList(context, query, list)}`,
  };
}

const renderFirstStep = () => html`<div class="rows"><div class="empty">
<p>Your tasks will stand here: what each one asks, when it runs next, and what became of its last 30 planned runs.</p>
<p><a href="/tasks/new">Make your first task</a></p>
</div></div>`;

const renderTools = ({ search, status, sort }: ListQuery) =>
  html`<form class="sentence tools" method="get" action="/tasks" role="search" aria-label="Tasks">
<div class="grow">${renderInput({
    name: 'search',
    label: 'Search by name',
    type: 'search',
    value: search,
    attributes: raw('maxlength="100"'),
  })}</div>
${renderSelect({ name: 'status', label: 'Show', options: STATUSES, value: status ?? '' })}
${renderSelect({ name: 'sort', label: 'Sort by', options: SORTS, value: sort })}
<button>Show</button>
</form>`;

function renderList(context: UserPageContext, query: ListQuery, list: TaskList): Html {
  const { tasks, total, nextCursor, isUnfinished } = list;
  const pager = renderPager({
    path: '/tasks',
    query: toQuery(query),
    nextCursor,
    texts: context.texts,
    text: isUnfinished
      ? 'Part of your tasks is searched. The search continues on the next page.'
      : `${countWords(total, 'task')} in all`,
  });
  if (tasks.length === 0) return html`${renderNoHit(query, isUnfinished)}${pager}`;
  const address = buildListAddress(query);
  return html`<form method="post" action="${address}" aria-label="Chosen tasks">${context.csrfField}
<div class="head tools bulk">
<p class="hint">Choose tasks to run, pause or delete them together, or <a href="${buildAddress('/tasks', { ...toQuery(query), choose: 'all' })}">choose all on this page</a>.</p>
<div class="do"><span class="muted fine">With the chosen:</span>
<button name="do" value="run">Run now</button><button name="do" value="pause">Pause</button><button name="do" value="resume">Resume</button><button class="danger" name="do" value="delete">Delete…</button></div>
<p>Times in ${context.timeZone}</p>
</div>
${renderTable(
  describeOrder(query),
  renderHeads(query),
  tasks.map((task) => renderTask(context, task, query.choosesAll)),
  { pick: true },
)}
</form>
${pager}
<h2 class="vh">Key to the strip</h2>
${renderKey(KEY)}`;
}

const KEY: readonly RunOutcome[] = ['ran', 'changed', 'late', 'running', 'skipped', 'failed', 'missed', 'quota'];

const describeOrder = ({ sort }: ListQuery) =>
  ({ next: 'Tasks by next run', name: 'Tasks by name', newest: 'Tasks, newest first' })[sort];

function renderHeads(query: ListQuery) {
  const link = (sort: ListQuery['sort'], text: string) =>
    html`<a href="${buildListAddress({ ...query, sort, cursor: undefined })}">${text}${
      query.sort === sort && raw(' <span aria-hidden="true">↑</span>')
    }</a>`;
  const sorted = (sort: ListQuery['sort']) => (query.sort === sort ? { sort: 'ascending' as const } : {});
  return [
    { head: html`<span class="vh">Choose</span>` },
    { head: link('name', 'Task'), ...sorted('name') },
    { head: html`Last 30 planned runs, <a href="#key">key</a>` },
    { head: 'Last' },
    { head: link('next', 'Next'), ...sorted('next') },
    { head: '30 days', class: 'num' },
  ];
}

function renderTask(context: UserPageContext, task: Row, isChosen: boolean): Html {
  const { id, name, fates, cost } = task;
  return renderRow(
    renderCell(
      html`<input type="checkbox" id="pick-${id}" name="id" value="${id}" aria-label="Choose ${name}"${isChosen && raw(' checked')}>`,
    ),
    renderRowHead(html`<a href="/tasks/${id}">${name}</a><span class="sub">${renderSchedule(task, context)}</span>`, {
      class: 'whole',
    }),
    renderCell(renderStrip(fates.map((fate) => SIGNS[fate])), { class: 'picture' }),
    renderCell(renderLast(context, task)),
    renderCell(renderNext(context, task), { class: 'beside tight' }),
    renderCell(`${cost.isPartial ? 'over ' : ''}${formatCost(cost.usd)}`, { class: 'num', label: '30 d' }),
  );
}

function renderLast(context: UserPageContext, task: Row): Html {
  const last = describeLast(task);
  if (!last) return html`<span class="muted">Not run yet</span>`;
  return html`${renderOutcome(last.outcome, last.text)}<span class="sub">${renderMoment(last.at, context)}</span>`;
}

function renderNext(context: UserPageContext, { status, nextExecutionAt }: Row): Html {
  if (nextExecutionAt !== null) return renderMomentWithDistance(nextExecutionAt, context);
  if (status === 'paused') return renderOutcome('paused', 'Paused');
  const word = status === 'completed' ? 'Done' : status === 'failed' ? 'Stopped' : 'None';
  return html`<span class="muted">${word}</span>`;
}

function renderNoHit({ search, status }: ListQuery, isUnfinished: boolean): Html {
  const kind = STATUSES.find(({ value }) => value === status)?.text.toLowerCase();
  const what = `${kind ? `${kind} ` : ''}task${search ? ` with “${search}” in its name` : ''}`;
  return html`<div class="rows"><div class="empty">
<p>${isUnfinished ? `No ${what} so far.` : search || status ? `No ${what}.` : 'No further task.'}</p>
<p><a href="/tasks">Show all tasks</a></p>
</div></div>`;
}
