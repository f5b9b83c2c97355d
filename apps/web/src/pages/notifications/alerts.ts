import { parseId } from '@carillon/contract/validation/formats';
import type { WebActionData } from '../../actions.ts';
import { countWords, formatDay, formatDistance, formatTime } from '../../components/format.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { buildAddress, renderPager } from '../../components/tables.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';

type Alert = WebActionData<'listAlerts'>['alerts'][number];
type Delivery = Alert['deliveries'][number];

interface Query {
  taskId: number | null;
  cursor: string | undefined;
}

const SIGNS: Record<Alert['kind'], RunOutcome> = {
  'task.overdue': 'missed',
  'task.failing': 'failed',
  'task.recovered': 'ran',
  'task.expensive': 'quota',
  'task.slow': 'late',
};

/** A path of a webhook may contain a secret. */
const describeTarget = ({ kind, to }: Delivery) =>
  kind === 'mail' ? to : kind === 'channel' ? `the channel ${to}` : `the webhook at ${new URL(to).host}`;

function renderDelivery(context: UserPageContext, delivery: Delivery): Html {
  const { status, attempts, lastError, at } = delivery;
  const target = describeTarget(delivery);
  if (status === 'delivered') return html`<li>Sent to ${target} ${renderMomentOn(at, context)}</li>`;
  const tried = attempts > 0 && ` after ${countWords(attempts, 'attempt')}`;
  const reason = lastError !== null && html`: ${lastError}`;
  if (status === 'failed') return html`<li><b>Not delivered</b> to ${target}${tried}${reason}</li>`;
  if (status === 'held') return html`<li>Held back by ${target}: quiet hours, its interval or its digest</li>`;
  return html`<li>Waiting to be sent to ${target}${attempts > 0 && html`, once more${tried}`}${reason}</li>`;
}

function renderAlert(context: UserPageContext, alert: Alert, { taskId: onlyTask }: Query): Html {
  const { timeZone, now } = context;
  const { kind, taskId, taskName, executionId, title, message, createdAt, undelivered, deliveries } = alert;
  const at = new Date(createdAt);
  return html`<li><time datetime="${at.toISOString()}" title="${formatDistance(at, now)}">${formatTime(at, timeZone)}</time><span class="node">${renderIcon(SIGNS[kind])}</span>
<div><h3>${title}${undelivered && html` <span class="tag">not delivered</span>`}</h3><p>${message}</p>
${deliveries.length > 0 && html`<ul class="sent">${deliveries.map((delivery) => renderDelivery(context, delivery))}</ul>`}
<div class="do"><a href="/tasks/${taskId}">See the task<span class="vh">: ${taskName}</span></a>${
    executionId !== null && html`<a href="/executions/${executionId}">See the run</a>`
  }${
    onlyTask === null &&
    html`<a href="${buildAddress('/alerts', { taskId: String(taskId) })}">Only this task<span class="vh">: ${taskName}</span></a>`
  }</div></div></li>`;
}

/** By day, newest first. */
function renderList(context: UserPageContext, alerts: readonly Alert[], query: Query): Html {
  const { timeZone, now } = context;
  const days = Map.groupBy(alerts, ({ createdAt }) => formatDay(new Date(createdAt), timeZone, now));
  const today = formatDay(now, timeZone, now);
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section aria-label="${day}"><h2 class="head">${day === today ? 'Today' : day}</h2>
<ol class="times notes">${ofDay.map((alert) => renderAlert(context, alert, query))}</ol></section>`,
  )}`;
}

const renderEmpty = ({ taskId, cursor }: Query): Html => {
  if (cursor !== undefined) return html`<p class="muted">There are no earlier ones.</p>`;
  return html`<div class="panel empty"><p>${taskId === null ? 'No task' : 'This task'} has sent an alert. Carillon sends one when a run does not come in time, when a task fails again and again, or when a run costs too much or takes too long, and says when the task works again.</p>
<p>A task with a channel, a webhook or a mail address sends the first two; the others are settings of the task.</p>
<p>${
    taskId === null
      ? html`<a class="button" href="/tasks">Choose a task</a>`
      : html`<a class="button" href="/tasks/${taskId}">See the task</a>`
  }</p></div>`;
};

export async function showAlerts(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone } = context;
  const { taskId: given, cursor } = readQuery(request);
  const query: Query = { taskId: parseId(given ?? ''), cursor };
  const input = { ...(query.taskId !== null && { taskId: query.taskId }), ...(cursor && { cursor }) };
  const { alerts, nextCursor } = unwrap(await actions.listAlerts(session, input));
  const taskId = query.taskId === null ? undefined : String(query.taskId);
  return {
    title: 'Alerts',
    subtitle: `What your tasks have alerted you of, and where each alert was sent. Times in ${timeZone}.`,
    isLive: true,
    body: html`${
      taskId !== undefined &&
      html`<p>Only alerts of ${alerts[0] ? html`<a href="/tasks/${taskId}">${alerts[0].taskName}</a>` : 'one task'}. <a href="/alerts">Show all</a></p>`
    }
${alerts.length > 0 ? renderList(context, alerts, query) : renderEmpty(query)}
${
  (cursor !== undefined || nextCursor !== null) &&
  renderPager({ path: '/alerts', query: { taskId, cursor }, nextCursor, text: countWords(alerts.length, 'alert') })
}`,
  };
}
