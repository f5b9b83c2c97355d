import { EXECUTION_STATUSES, type ExecutionStatus } from '@carillon/contract/executions';
import { parseId } from '@carillon/contract/validation/formats';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  renderSelect,
  toFormErrors,
} from '../../components/fields.ts';
import { firstLine } from '../../components/first-line.ts';
import { countWords, formatCost, formatDistance, formatDuration } from '../../components/format.ts';
import {
  buildAddress,
  renderCell,
  renderPager,
  renderRow,
  renderRowHead,
  renderTable,
} from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { type RunOfList, renderRunOutcome, timeOf } from './outcomes.ts';

const PATH = '/executions';
const PAGE_SIZE = 25;

const STATUS_WORDS: Record<ExecutionStatus, string> = {
  pending: 'Waiting',
  running: 'Running',
  completed: 'Ran',
  failed: 'Failed',
};
const STATUS_OPTIONS = [
  { value: '', text: 'Any' },
  ...EXECUTION_STATUSES.map((value) => ({ value, text: STATUS_WORDS[value] })),
];

interface Filter extends Record<string, string | undefined> {
  task: string | undefined;
  status: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

export async function showRuns(context: UserPageContext): Promise<Page> {
  const { task, status, from, to, cursor } = readQuery(context.request);
  const filter = { task, status, from, to };
  const taskId = task ? parseId(task) : null;
  const result = await context.actions.listRuns(context.session, {
    ...(taskId !== null && { taskId }),
    ...(status && { status: status as ExecutionStatus }),
    ...(from && { from }),
    ...(to && { to }),
    ...(cursor && { cursor }),
    limit: PAGE_SIZE,
  });
  if (!result.success) {
    const body = html`${renderFilter(context, filter, null, toFormErrors(result, context.texts))}`;
    return { title: 'Runs', status: 422, body };
  }
  const { runs, taskName, nextCursor, isPartial } = result.data;
  const query = { ...filter, cursor };
  return {
    title: 'Runs',
    subtitle: 'What ran and what did not, newest first.',
    isLive: true,
    body: html`${renderFilter(context, filter, taskName, NO_ERRORS)}
${runs.length > 0 ? renderRuns(context, runs) : renderEmpty(query, isPartial)}
${(nextCursor !== null || cursor) && renderPager({ path: PATH, query, nextCursor, text: describeEnd(runs.length, isPartial), texts: context.texts })}`,
  };
}

const describeEnd = (count: number, isPartial: boolean) =>
  isPartial ? 'Older runs are not searched yet.' : `${countWords(count, 'run')} on this page`;

const renderFilter = (
  { texts }: UserPageContext,
  { task, status, from, to }: Filter,
  taskName: string | null,
  errors: FormErrors,
): Html => {
  const isSet = [task, status, from, to].some(Boolean);
  return html`${renderFormError(errors, texts)}<form class="sentence" id="filter" method="get" action="${PATH}" hx-preserve>
${task && html`<input type="hidden" name="task" value="${task}">`}
${renderSelect({ name: 'status', label: 'Outcome', options: STATUS_OPTIONS, value: status, errors })}
${renderInput({ name: 'from', label: 'From', type: 'date', value: from, errors })}
${renderInput({ name: 'to', label: 'To', type: 'date', value: to, errors })}
<button>Filter</button>${isSet && html`<a class="button quiet" href="${PATH}">Clear the filter</a>`}
</form>
${task && html`<p class="fine muted">Only runs of ${taskName === null ? 'a task that does not exist' : html`<a href="/tasks/${task}">${taskName}</a>`}.</p>`}`;
};

const COLUMNS = [
  { head: 'Planned' },
  { head: 'Outcome' },
  { head: 'Task, and what came of it' },
  { head: 'Took', class: 'num' },
  { head: 'Cost', class: 'num' },
  { head: html`<span class="vh">Do</span>` },
];

const renderRuns = (context: UserPageContext, runs: readonly RunOfList[]): Html =>
  html`<form method="post">${context.csrfField}${renderTable(
    'Runs',
    COLUMNS,
    runs.map((run) => renderRun(context, run)),
  )}</form>`;

function renderRun(context: UserPageContext, run: RunOfList): Html {
  const { id, taskName, status, resultStart, error, processingTimeMs, costUsd, attempt, isRetried, sources } = run;
  const at = timeOf(run);
  const text = firstLine(status === 'failed' ? (error ?? '') : (resultStart ?? ''));
  return renderRow(
    renderRowHead(
      html`<a href="${PATH}/${id}">${renderMoment(at, context)}</a><span class="sub">${formatDistance(at, context.now)}</span>`,
      {
        class: 'tight',
      },
    ),
    renderCell(html`${renderRunOutcome(run)}${attempt > 1 && html`<span class="sub">attempt ${attempt}</span>`}`),
    renderCell(
      html`${taskName}${text !== '' && html`<span class="sub line">${text}</span>`}${
        sources > 0 && html`<span class="tag calm">${countWords(sources, 'source')}</span>`
      }`,
      { class: 'whole' },
    ),
    renderCell(processingTimeMs === null ? EMPTY : formatDuration(processingTimeMs), { class: 'num', label: 'Took' }),
    renderCell(costUsd === null ? EMPTY : formatCost(costUsd), { class: 'num', label: 'Cost' }),
    renderCell(
      status === 'failed' && !isRetried
        ? html`<button formaction="${PATH}/${id}/retry">Retry<span class="vh"> run ${id}</span></button>`
        : EMPTY,
    ),
  );
}

function renderEmpty({ cursor, ...filter }: Filter & { cursor: string | undefined }, isPartial: boolean): Html {
  if (isPartial) {
    return html`<div class="panel empty"><p>None of the newest runs is one of these. Older ones are not searched yet.</p></div>`;
  }
  if (cursor) return html`<div class="panel empty"><p>There are no older runs.</p></div>`;
  const words = describeFilter(filter);
  if (words !== '') {
    return html`<div class="panel empty"><p>No run ${words}.</p><p><a href="${PATH}">Clear the filter</a></p></div>`;
  }
  return html`<div class="panel empty"><p>Every run of your tasks will stand here, with its answer or the reason why there is none.</p>
<p><a class="button primary" href="/tasks/new">Create a task</a></p></div>`;
}

function describeFilter({ task, status, from, to }: Filter): string {
  const isStatus = EXECUTION_STATUSES.find((one) => one === status);
  return [
    isStatus && `in the state “${STATUS_WORDS[isStatus]}”`,
    task && 'of this task',
    from && `since ${from}`,
    to && `until ${to}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** The address of the runs of a task. */
export const runsOfTask = (taskId: number): string => buildAddress(PATH, { task: String(taskId) });
