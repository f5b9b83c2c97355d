import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderInput, renderSelect } from '../../components/fields.ts';
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
import { renderAttempt } from '../task-form/attempt.ts';
import { buildListAddress, type ListQuery, readListQuery, toQuery } from './list-query.ts';
import { describeLast, SIGNS } from './outcomes.ts';
import { renderPause, renderPauseAll } from './pause-all-control.ts';

type TaskList = WebActionData<'getTaskList'>;
type Row = TaskList['tasks'][number];

export async function showTasks(context: UserPageContext): Promise<Page> {
  const query = readListQuery(context.request);
  const { search, status, sort, cursor } = query;
  const list = unwrap(
    await context.actions.getTaskList(context.session, {
      sort,
      ...(status === 'attention' ? { needsAttention: true } : { status }),
      search: search || undefined,
      cursor,
    }),
  );
  return renderTasks(context, query, list);
}

/** `refusedPause` is the form of a pause of all tasks with its error. */
export function renderTasks(context: UserPageContext, query: ListQuery, list: TaskList, refusedPause?: Html): Page {
  const { tasks } = context.texts;
  return {
    title: tasks.title,
    isLive: true,
    aside: html`${list.total > 0 && !refusedPause && renderPauseAll(context)}<a class="button primary" href="/tasks/new">${tasks.newTask}</a>`,
    body:
      list.total === 0
        ? renderFirstStep(context.texts)
        : html`${refusedPause ?? renderPause(context, list.pause)}${renderTools(context.texts, query)}${renderList(context, query, list)}`,
  };
}

const renderFirstStep = ({ tasks }: Texts) => html`<div class="rows"><div class="empty">
<p>${tasks.empty}</p>
<p><a href="/tasks/new">${tasks.createFirst}</a></p>
</div></div>`;

const toOptions = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, text]) => ({ value: value === 'all' ? '' : value, text }));

const renderTools = ({ tasks, forms }: Texts, { search, status, sort }: ListQuery) =>
  html`<form class="sentence tools" method="get" action="/tasks" role="search" aria-label="${tasks.title}">
<div class="grow">${renderInput({
    name: 'search',
    label: tasks.search,
    type: 'search',
    value: search,
    attributes: raw('maxlength="100"'),
  })}</div>
${renderSelect({ name: 'status', label: tasks.status, options: toOptions(tasks.statuses), value: status ?? '' })}
${renderSelect({ name: 'sort', label: tasks.sortBy, options: toOptions(tasks.sorts), value: sort })}
<button>${forms.apply}</button>
</form>`;

function renderList(context: UserPageContext, query: ListQuery, list: TaskList): Html {
  const { texts } = context;
  const { tasks, total, nextCursor, isUnfinished } = list;
  const pager = renderPager({
    path: '/tasks',
    query: toQuery(query),
    nextCursor,
    text: isUnfinished ? texts.tasks.searchContinues : texts.tasks.total(total),
    texts,
  });
  if (tasks.length === 0) return html`${renderNoMatch(texts, query, isUnfinished)}${pager}`;
  const address = buildListAddress(query);
  const selectAll = html`<a href="${buildAddress('/tasks', { ...toQuery(query), choose: 'all' })}">${texts.tasks.selectAll}</a>`;
  return html`<form method="post" action="${address}" aria-label="${texts.tasks.selectedTasks}">${context.csrfField}${renderAttempt()}
<div class="head tools bulk">
<p class="hint">${texts.tasks.selectHint(selectAll)}</p>
<div class="do"><span class="muted fine">${texts.tasks.selected}</span>
<button name="do" value="run">${texts.tasks.run}</button><button name="do" value="pause">${texts.tasks.pause}</button><button name="do" value="resume">${texts.tasks.resume}</button><button class="danger" name="do" value="delete">${texts.forms.delete}</button></div>
<p>${texts.lists.timesIn(context.timeZone)}</p>
</div>
${renderTable(
  texts.tasks.orders[query.sort],
  renderHeads(texts, query),
  tasks.map((task) => renderTask(context, task, query.choosesAll)),
  { pick: true },
)}
</form>
${pager}
<h2 class="vh">${texts.outcomes.key}</h2>
${renderKey(KEY, texts)}`;
}

const KEY: readonly RunOutcome[] = ['ran', 'changed', 'late', 'running', 'skipped', 'failed', 'missed', 'quota'];

function renderHeads({ tasks }: Texts, query: ListQuery) {
  const link = (sort: ListQuery['sort'], text: string) =>
    html`<a href="${buildListAddress({ ...query, sort, cursor: undefined })}">${text}${
      query.sort === sort && raw(' <span aria-hidden="true">↑</span>')
    }</a>`;
  const sorted = (sort: ListQuery['sort']) => (query.sort === sort ? { sort: 'ascending' as const } : {});
  return [
    { head: html`<span class="vh">${tasks.select}</span>` },
    { head: link('name', tasks.task), ...sorted('name') },
    { head: html`${tasks.lastPlanned(html`<a href="#key">${tasks.key}</a>`)}` },
    { head: tasks.last },
    { head: link('next', tasks.next), ...sorted('next') },
    { head: tasks.days30, class: 'num' },
  ];
}

function renderTask(context: UserPageContext, task: Row, isChosen: boolean): Html {
  const { texts } = context;
  const { tasks, formats } = texts;
  const { id, name, fates, cost } = task;
  const usd = formats.money(cost.usd);
  return renderRow(
    renderCell(
      html`<input type="checkbox" id="pick-${id}" name="id" value="${id}" aria-label="${tasks.selectTask(name)}"${isChosen && raw(' checked')}>`,
    ),
    renderRowHead(html`<a href="/tasks/${id}">${name}</a><span class="sub">${renderSchedule(task, context)}</span>`, {
      class: 'whole',
    }),
    renderCell(
      renderStrip(
        fates.map((fate) => SIGNS[fate]),
        texts,
      ),
      { class: 'picture' },
    ),
    renderCell(renderLast(context, task)),
    renderCell(renderNext(context, task), { class: 'beside tight' }),
    renderCell(cost.isPartial ? tasks.over(usd) : usd, { class: 'num', label: tasks.days30Short }),
  );
}

function renderLast(context: UserPageContext, task: Row): Html {
  const { texts } = context;
  const last = describeLast(texts, task);
  if (!last) return html`<span class="muted">${texts.tasks.notRun}</span>`;
  return html`${renderOutcome(last.outcome, last.text)}<span class="sub">${renderMoment(last.at, context)}</span>`;
}

function renderNext(context: UserPageContext, { status, nextExecutionAt }: Row): Html {
  const { tasks } = context.texts;
  if (nextExecutionAt !== null) return renderMomentWithDistance(nextExecutionAt, context);
  if (status === 'paused') return renderOutcome('paused', tasks.paused);
  if (status === 'failed') return renderOutcome('failed', tasks.stopped);
  return html`<span class="muted">${status === 'completed' ? tasks.done : tasks.none}</span>`;
}

function renderNoMatch({ tasks }: Texts, { search, status }: ListQuery, isUnfinished: boolean): Html {
  const text = isUnfinished ? tasks.noMatchSoFar : search || status ? tasks.noMatch : tasks.noMore;
  return html`<div class="rows"><div class="empty">
<p>${text}</p>
<p><a href="/tasks">${tasks.showAll}</a></p>
</div></div>`;
}
