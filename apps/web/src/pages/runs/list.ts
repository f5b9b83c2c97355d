import { EXECUTION_STATUSES, type ExecutionStatus } from '@carillon/contract/executions';
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

const STATUS_WORDS = { pending: 'waiting', running: 'running', completed: 'ran', failed: 'failed' } as const;

interface Filter extends Record<string, string | undefined> {
  task: string | undefined;
  status: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

export async function showRuns(context: UserPageContext): Promise<Page> {
  const { runs: texts } = context.texts;
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
    return { title: texts.title, status: 422, body };
  }
  const { runs, taskName, nextCursor, isPartial } = result.data;
  const query = { ...filter, cursor };
  return {
    title: texts.title,
    subtitle: texts.subtitle,
    isLive: true,
    body: html`${renderFilter(context, filter, taskName, NO_ERRORS)}
${runs.length > 0 ? renderRuns(context, runs) : renderEmpty(context, query, isPartial)}
${(nextCursor !== null || cursor) && renderPager({ path: PATH, query, nextCursor, text: isPartial ? texts.notSearched : texts.onThisPage(runs.length), texts: context.texts })}`,
  };
}

const renderFilter = (
  { texts }: UserPageContext,
  { task, status, from, to }: Filter,
  taskName: string | null,
  errors: FormErrors,
): Html => {
  const { runs, outcomes, forms } = texts;
  const isSet = [task, status, from, to].some(Boolean);
  const options = EXECUTION_STATUSES.map((value) => ({ value, text: outcomes[STATUS_WORDS[value]] }));
  const taskLink = taskName === null ? html`${runs.unknownTask}` : html`<a href="/tasks/${task}">${taskName}</a>`;
  return html`${renderFormError(errors, texts)}<form class="sentence" id="filter" method="get" action="${PATH}" hx-preserve>
${task && html`<input type="hidden" name="task" value="${task}">`}
${renderSelect({ name: 'status', label: runs.outcome, options: [{ value: '', text: runs.any }, ...options], value: status, errors })}
${renderInput({ name: 'from', label: runs.from, type: 'date', value: from, errors })}
${renderInput({ name: 'to', label: runs.to, type: 'date', value: to, errors })}
<button>${forms.apply}</button>${isSet && html`<a class="button quiet" href="${PATH}">${runs.clearFilter}</a>`}
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
  const { id, taskName, status, resultStart, error, processingTimeMs, costUsd, attempt, isRetried, sources } = run;
  const { runs, outcomes, formats } = context.texts;
  const at = timeOf(run);
  const text = firstLine(status === 'failed' ? (error ?? '') : (resultStart ?? ''));
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
      html`${taskName}${text !== '' && html`<span class="sub line">${text}</span>`}${
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
export const runsOfTask = (taskId: number): string => buildAddress(PATH, { task: String(taskId) });
