import type { Texts } from '@carillon/texts';
import { renderPart } from '../../components/meters.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Month } from './month.ts';

type Task = Month['tasks'][number];
type Calls = Pick<Task, 'executions' | 'inputTokens' | 'outputTokens' | 'costUsd'>;

const callColumns = ({ usage }: Texts, first: string) => [
  { head: first },
  { head: usage.cost, class: 'num' },
  { head: usage.share },
  { head: usage.runs, class: 'num' },
  { head: usage.tokensIn, class: 'num' },
  { head: usage.tokensOut, class: 'num' },
];

const renderCalls = (
  texts: Texts,
  name: Html | string,
  { executions, inputTokens, outputTokens, costUsd }: Calls,
  total: number,
) =>
  renderRow(
    renderRowHead(name),
    renderCell(texts.formats.money(costUsd), { class: 'num' }),
    renderCell(renderPart(costUsd, total, texts), { class: 'whole' }),
    renderCell(texts.formats.number(executions), { class: 'num', label: texts.usage.runs }),
    renderCell(texts.formats.shortNumber(inputTokens), { class: 'num', label: texts.usage.tokensIn }),
    renderCell(texts.formats.shortNumber(outputTokens), { class: 'num', label: texts.usage.tokensOut }),
  );

function nameTask({ usage }: Texts, { kind, taskId, taskName }: Task): Html {
  if (kind === 'agent') return html`${usage.agent}<span class="sub">${usage.agentHint}</span>`;
  if (taskId === null || taskName === null) return html`${usage.deletedTasks}`;
  return html`<a href="/tasks/${taskId}">${taskName}</a>`;
}

/** What the month was used for. */
export function renderBreakdowns(texts: Texts, { tasks, models, tasksLeftOut, costUsd }: Month): Html {
  const { usage } = texts;
  if (tasks.length === 0) return html`<p class="muted">${usage.noRuns}</p>`;
  const left = tasksLeftOut > 0 && html`<p>${usage.expensive(tasks.length, tasksLeftOut)}</p>`;
  return html`<section aria-labelledby="tasks"><div class="head"><h2 id="tasks">${usage.byTask}</h2>${left}</div>
${renderTable(
  usage.tasksTable,
  callColumns(texts, usage.task),
  tasks.map((task) => renderCalls(texts, nameTask(texts, task), task, costUsd)),
)}</section>
<section aria-labelledby="models"><div class="head"><h2 id="models">${usage.byModel}</h2></div>
${renderTable(
  usage.modelsTable,
  callColumns(texts, usage.model),
  models.map((model) =>
    renderCalls(
      texts,
      html`${model.model ?? usage.unknownModel}${model.provider !== null && html`<span class="sub">${model.provider}</span>`}`,
      model,
      costUsd,
    ),
  ),
)}</section>`;
}

function renderKeys({ usage, formats }: Texts, { keys }: Month): Html {
  return html`<section aria-labelledby="keys"><div class="head"><h2 id="keys">${usage.keysTitle}</h2><a href="/settings/keys">${usage.keys}</a></div>
${
  keys.length > 0
    ? renderTable(
        usage.keysTable,
        [{ head: usage.key }, { head: usage.requests, class: 'num' }],
        keys.map(({ name, requests }) =>
          renderRow(renderRowHead(name), renderCell(formats.number(requests), { class: 'num', label: usage.requests })),
        ),
      )
    : html`<p class="muted">${usage.noKeys}</p>`
}</section>`;
}

function renderRejections(context: UserPageContext, { rejections }: Month): Html {
  const { usage, formats } = context.texts;
  const total = rejections.reduce((sum, { hits }) => sum + hits, 0);
  return html`<section aria-labelledby="limits"><div class="head"><h2 id="limits">${usage.limitsTitle}</h2><p>${
    total > 0 ? usage.rejectedRequests(total) : ''
  }</p></div>
${
  total > 0
    ? renderTable(
        usage.rejectionsTable,
        [{ head: usage.operation }, { head: usage.rejected, class: 'num' }, { head: usage.last }],
        rejections.map(({ endpoint, hits, lastHit }) =>
          renderRow(
            renderRowHead(html`<code>${endpoint}</code>`),
            renderCell(formats.number(hits), { class: 'num', label: usage.rejected }),
            renderCell(renderMoment(lastHit, context), { class: 'whole' }),
          ),
        ),
      )
    : html`<p class="muted">${usage.noRejections}</p>`
}</section>`;
}

/** What programs have asked for. Rate limits are only kept of today. */
export const renderRequests = (context: UserPageContext, month: Month, isNow: boolean): Html =>
  html`<div class="halves">${renderKeys(context.texts, month)}${isNow && renderRejections(context, month)}</div>`;
