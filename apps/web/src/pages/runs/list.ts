import type { WebActionError } from '@carillon/contract/actions/web/index';
import { parseId } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  renderSelect,
  toFormErrors,
} from '../../components/fields.ts';
import { firstLine } from '../../components/first-line.ts';
import { renderOutcome } from '../../components/status-icon.ts';
import {
  buildAddress,
  renderCell,
  renderPager,
  renderRow,
  renderRowHead,
  renderTable,
} from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { renderSeeAll } from './mark-seen.ts';
import { describeError, type RunOfList, renderRunOutcome, timeOf } from './outcomes.ts';

const PATH = '/executions';
export const CSV_PATH = '/executions.csv';
const PAGE_SIZE = 25;

/** What the filter of the outcome asks for. Missed runs are in a separate list. */
const OUTCOMES = {
  new: { unseen: true },
  pending: { status: 'pending' },
  running: { status: 'running' },
  completed: { status: 'completed' },
  changed: { outcome: 'changed' },
  late: { outcome: 'late' },
  failed: { outcome: 'failed' },
  missed: {},
  over_quota: { outcome: 'over_quota' },
  stopped: { outcome: 'stopped' },
} as const;
type Outcome = keyof typeof OUTCOMES;

const isOutcome = (name: string): name is Outcome => Object.hasOwn(OUTCOMES, name);

const listOutcomes = ({ runs, outcomes }: Texts): Record<Outcome, string> => ({
  new: runs.unseen,
  pending: outcomes.waiting,
  running: outcomes.running,
  completed: outcomes.ran,
  changed: outcomes.changed,
  late: outcomes.late,
  failed: outcomes.failed,
  missed: outcomes.missed,
  over_quota: outcomes.overQuota,
  stopped: outcomes.cancelled,
});

interface Filter extends Record<string, string | undefined> {
  q: string | undefined;
  /** The id of one. */
  task: string | undefined;
  taskName: string | undefined;
  outcome: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

/** What the address asks for, as its form and as the action. */
export function readFilter({ request }: UserPageContext) {
  const { q, task, taskName, outcome, from, to, cursor } = readQuery(request);
  const filter: Filter = { q, task, taskName, outcome, from, to };
  const taskId = task ? parseId(task) : null;
  const asked = {
    ...(taskId !== null && { taskId }),
    ...(taskName && { taskName }),
    ...(from && { from }),
    ...(to && { to }),
  };
  const input = {
    ...asked,
    ...(q && { search: q }),
    ...(outcome && (isOutcome(outcome) ? OUTCOMES[outcome] : { outcome: outcome as 'changed' })),
    ...(cursor && { cursor }),
  };
  return { filter, cursor, asked, input };
}

export async function showRuns(context: UserPageContext): Promise<Page> {
  const { runs: texts } = context.texts;
  const { filter, cursor, asked, input } = readFilter(context);
  if (filter.outcome === 'missed') return showMissed(context, filter, asked);
  const result = await context.actions.listRuns(context.session, { ...input, limit: PAGE_SIZE });
  if (!result.success) return showRefused(context, filter, result);
  const { runs, taskName: onlyTask, nextCursor, isPartial } = result.data;
  const query = { ...filter, cursor };
  return {
    title: texts.title,
    subtitle: texts.subtitle,
    isLive: true,
    aside: renderSeeAll(context, buildAddress(PATH, query)) || undefined,
    body: html`${renderFilter(context, filter, onlyTask, NO_ERRORS)}
${runs.length > 0 ? renderRuns(context, runs) : renderEmpty(context, query, isPartial)}
${(nextCursor !== null || cursor) && renderPager({ path: PATH, query, nextCursor, text: isPartial ? texts.notSearched : texts.onThisPage(runs.length), texts: context.texts })}
${runs.length > 0 && html`<p class="fine"><a href="${buildAddress(CSV_PATH, filter)}">${context.texts.lists.asCsv}</a></p>`}`,
  };
}

/** The form again, with what is wrong. */
export const showRefused = (context: UserPageContext, filter: Filter, refused: WebActionError): Page => ({
  title: context.texts.runs.title,
  status: 422,
  body: renderFilter(context, filter, null, toFormErrors(refused, context.texts)),
});

async function showMissed(
  context: UserPageContext,
  filter: Filter,
  asked: Parameters<UserPageContext['actions']['listMissedRuns']>[1],
): Promise<Page> {
  const { runs: texts, tasks, outcomes } = context.texts;
  const result = await context.actions.listMissedRuns(context.session, asked);
  if (!result.success) return showRefused(context, filter, result);
  // They have no words.
  const missed = filter.q ? [] : result.data.missed;
  const onlyTask = filter.task ? (missed[0]?.taskName ?? null) : null;
  const rows = missed.map(({ taskId, taskName, plannedFor }) =>
    renderRow(
      renderRowHead(
        html`${renderMoment(plannedFor, context)}<span class="sub">${context.texts.formats.distance(new Date(plannedFor), context.now)}</span>`,
        { class: 'tight' },
      ),
      renderCell(renderOutcome('missed', outcomes.missed)),
      renderCell(html`<a href="/tasks/${taskId}">${taskName}</a>`, { class: 'whole' }),
      renderCell(html`<a href="/tasks/${taskId}/backfill">${tasks.runMissed}<span class="vh">: ${taskName}</span></a>`),
    ),
  );
  const columns = [
    { head: texts.planned },
    { head: texts.outcome },
    { head: tasks.task },
    { head: html`<span class="vh">${context.texts.lists.actions}</span>` },
  ];
  return {
    title: texts.title,
    subtitle: texts.subtitle,
    isLive: true,
    body: html`${renderFilter(context, filter, onlyTask, NO_ERRORS)}
${rows.length > 0 ? renderTable(texts.title, columns, rows) : renderEmpty(context, { ...filter, cursor: undefined }, false)}`,
  };
}

const renderFilter = (
  { texts }: UserPageContext,
  { q, task, taskName, outcome, from, to }: Filter,
  onlyTask: string | null,
  errors: FormErrors,
): Html => {
  const { runs, forms } = texts;
  const isSet = [q, task, taskName, outcome, from, to].some(Boolean);
  const options = Object.entries(listOutcomes(texts)).map(([value, text]) => ({ value, text }));
  const taskLink = onlyTask === null ? html`${runs.unknownTask}` : html`<a href="/tasks/${task}">${onlyTask}</a>`;
  return html`${renderFormError(errors, texts)}<form class="sentence" id="filter" method="get" action="${PATH}" role="search" aria-label="${runs.title}" hx-preserve>
<div class="grow">${renderInput({ name: 'q', label: runs.search, type: 'search', value: q, errors, attributes: raw('maxlength="200"') })}</div>
${renderSelect({ name: 'outcome', label: runs.outcome, options: [{ value: '', text: runs.any }, ...options], value: outcome, errors })}
<button>${forms.apply}</button>${isSet && html`<a class="button quiet" href="${PATH}">${runs.clearFilter}</a>`}
<details${[taskName, from, to].some(Boolean) && raw(' open')}><summary>${runs.moreFilters}</summary><div class="sentence">${
    task
      ? html`<input type="hidden" name="task" value="${task}">`
      : renderInput({
          name: 'taskName',
          label: runs.task,
          type: 'search',
          value: taskName,
          errors,
          attributes: raw('maxlength="100"'),
        })
  }
${renderInput({ name: 'from', label: runs.from, type: 'date', value: from, errors })}
${renderInput({ name: 'to', label: runs.to, type: 'date', value: to, errors })}</div></details>
</form>
${task && html`<p class="fine muted">${runs.onlyTask(taskLink)}</p>`}`;
};

const listColumns = ({ runs, lists }: Texts) => [
  { head: runs.planned },
  { head: runs.outcome },
  { head: runs.taskAndAnswer },
  { head: runs.duration, class: 'num' },
  { head: runs.cost, class: 'num' },
  { head: html`<span class="vh">${lists.actions}</span>` },
];

const renderRuns = (context: UserPageContext, runs: readonly RunOfList[]): Html =>
  html`<form method="post">${context.csrfField}${renderTable(
    context.texts.runs.title,
    listColumns(context.texts),
    runs.map((run) => renderRun(context, run)),
  )}</form>`;

function renderRun(context: UserPageContext, run: RunOfList): Html {
  const { id, taskName, status, resultStart, processingTimeMs, costUsd, attempt, isRetried, sources, isNew } = run;
  const { runs, outcomes, formats } = context.texts;
  const at = timeOf(run);
  const text = firstLine(status === 'failed' ? describeError(context.texts, run) : (resultStart ?? ''));
  return renderRow(
    renderRowHead(
      html`<a href="${PATH}/${id}">${renderMoment(at, context)}</a><span class="sub">${formats.distance(at, context.now)}</span>`,
      {
        class: 'tight',
      },
    ),
    renderCell(
      html`${renderRunOutcome(context.texts, run)}${attempt > 1 && html`<span class="sub">${outcomes.attempt(attempt)}</span>`}`,
    ),
    renderCell(
      html`${isNew && html`<span class="fresh" title="${runs.new}"></span>`}${taskName}${isNew && html`<span class="vh"> ${runs.new}</span>`}${text !== '' && html`<span class="sub line">${text}</span>`}${
        sources > 0 && html`<span class="tag calm">${runs.sources(sources)}</span>`
      }`,
      { class: 'whole' },
    ),
    renderCell(processingTimeMs === null ? EMPTY : formats.duration(processingTimeMs), {
      class: 'num',
      label: runs.duration,
    }),
    renderCell(costUsd === null ? EMPTY : formats.money(costUsd), { class: 'num', label: runs.cost }),
    renderCell(
      status === 'failed' && !isRetried
        ? html`<button formaction="${PATH}/${id}/retry">${runs.retry}<span class="vh">${runs.retryRun(id)}</span></button>`
        : EMPTY,
    ),
  );
}

function renderEmpty(
  { texts: { runs } }: UserPageContext,
  { cursor, ...filter }: Filter & { cursor: string | undefined },
  isPartial: boolean,
): Html {
  const say = (text: string, link: Html | null = null) =>
    html`<div class="panel empty"><p>${text}</p>${link && html`<p>${link}</p>`}</div>`;
  if (isPartial) return say(runs.noneOfNewest);
  if (cursor) return say(runs.noOlder);
  return Object.values(filter).some(Boolean)
    ? say(runs.noneMatch, html`<a href="${PATH}">${runs.clearFilter}</a>`)
    : say(runs.empty, html`<a class="button primary" href="/tasks/new">${runs.createTask}</a>`);
}

/** The address of the runs of a task. */
export const runsOfTask = (taskId: number, filter: Partial<Pick<Filter, 'outcome' | 'from' | 'to'>> = {}): string =>
  buildAddress(PATH, { task: String(taskId), ...filter });
