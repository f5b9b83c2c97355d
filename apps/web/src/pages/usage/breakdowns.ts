import { countWords, formatCost, formatCount, formatShortCount } from '../../components/format.ts';
import { renderPart } from '../../components/meters.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Month } from './month.ts';

type Task = Month['tasks'][number];
type Calls = Pick<Task, 'executions' | 'inputTokens' | 'outputTokens' | 'costUsd'>;

const callColumns = (first: string) => [
  { head: first },
  { head: 'Cost', class: 'num' },
  { head: 'Share of the cost' },
  { head: 'Runs', class: 'num' },
  { head: 'Tokens in', class: 'num' },
  { head: 'Tokens out', class: 'num' },
];

const renderCalls = (name: Html | string, { executions, inputTokens, outputTokens, costUsd }: Calls, total: number) =>
  renderRow(
    renderRowHead(name),
    renderCell(formatCost(costUsd), { class: 'num' }),
    renderCell(renderPart(costUsd, total), { class: 'whole' }),
    renderCell(formatCount(executions), { class: 'num', label: 'Runs' }),
    renderCell(formatShortCount(inputTokens), { class: 'num', label: 'Tokens in' }),
    renderCell(formatShortCount(outputTokens), { class: 'num', label: 'Tokens out' }),
  );

function nameTask({ kind, taskId, taskName }: Task): Html {
  if (kind === 'agent') return html`Agent<span class="sub">messages, not runs of a task</span>`;
  if (taskId === null || taskName === null) return html`Deleted tasks`;
  return html`<a href="/tasks/${taskId}">${taskName}</a>`;
}

/** What the month was used for. */
export function renderBreakdowns({ tasks, models, tasksLeftOut, costUsd }: Month): Html {
  if (tasks.length === 0)
    return html`<p class="muted">No run of this month has ended yet. Which task and which model used how much will stand here.</p>`;
  const left =
    tasksLeftOut > 0 && html`<p>the ${tasks.length} most expensive, ${formatCount(tasksLeftOut)} more left out</p>`;
  return html`<section aria-labelledby="tasks"><div class="head"><h2 id="tasks">By task</h2>${left}</div>
${renderTable(
  'Usage by task, the most expensive first',
  callColumns('Task'),
  tasks.map((task) => renderCalls(nameTask(task), task, costUsd)),
)}</section>
<section aria-labelledby="models"><div class="head"><h2 id="models">By model</h2></div>
${renderTable(
  'Usage by model, the most expensive first',
  callColumns('Model'),
  models.map((model) =>
    renderCalls(
      html`${model.model ?? 'unknown'}${model.provider !== null && html`<span class="sub">${model.provider}</span>`}`,
      model,
      costUsd,
    ),
  ),
)}</section>`;
}

const KEY_COLUMNS = [{ head: 'Key' }, { head: 'Requests', class: 'num' }];
const REJECTION_COLUMNS = [{ head: 'Operation' }, { head: 'Rejected', class: 'num' }, { head: 'Last' }];

function renderKeys({ keys }: Month): Html {
  return html`<section aria-labelledby="keys"><div class="head"><h2 id="keys">Requests by API key</h2><a href="/settings/keys">API keys</a></div>
${
  keys.length > 0
    ? renderTable(
        'Requests by API key, the most used first',
        KEY_COLUMNS,
        keys.map(({ name, requests }) =>
          renderRow(renderRowHead(name), renderCell(formatCount(requests), { class: 'num', label: 'Requests' })),
        ),
      )
    : html`<p class="muted">No key was used in this month.</p>`
}</section>`;
}

function renderRejections(context: UserPageContext, { rejections }: Month): Html {
  const total = rejections.reduce((sum, { hits }) => sum + hits, 0);
  return html`<section aria-labelledby="limits"><div class="head"><h2 id="limits">Rate limits today</h2><p>${
    total > 0 ? `${countWords(total, 'request')} rejected` : ''
  }</p></div>
${
  total > 0
    ? renderTable(
        'Requests rejected today, in UTC, the most frequent first',
        REJECTION_COLUMNS,
        rejections.map(({ endpoint, hits, lastHit }) =>
          renderRow(
            renderRowHead(html`<code>${endpoint}</code>`),
            renderCell(formatCount(hits), { class: 'num', label: 'Rejected' }),
            renderCell(renderMoment(lastHit, context), { class: 'whole' }),
          ),
        ),
      )
    : html`<p class="muted">No request was rejected since midnight UTC.</p>`
}</section>`;
}

/** What programs have asked for. Rate limits are only kept of today. */
export const renderRequests = (context: UserPageContext, month: Month, isNow: boolean): Html =>
  html`<div class="halves">${renderKeys(month)}${isNow && renderRejections(context, month)}</div>`;
