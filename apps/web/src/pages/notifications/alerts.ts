import { parseId } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { buildAddress, renderPager } from '../../components/tables.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';

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
  'task.degraded': 'late',
};

/** A path of a webhook may contain a secret. */
const describeTarget = ({ alerts }: Texts, { kind, to }: Delivery) =>
  kind === 'mail' ? to : kind === 'channel' ? alerts.toChannel(to) : alerts.toWebhook(new URL(to).host);

const strong = (text: string) => html`<b>${text}</b>`;

function renderDelivery(context: UserPageContext, delivery: Delivery): Html {
  const { status, attempts, lastError, at } = delivery;
  const { alerts } = context.texts;
  const target = describeTarget(context.texts, delivery);
  switch (status) {
    case 'delivered':
      return html`<li>${alerts.delivered(target, renderMomentOn(at, context))}</li>`;
    case 'failed':
      return html`<li>${alerts.failed(strong, target, attempts, lastError)}</li>`;
    case 'held':
      return html`<li>${alerts.held(target)}</li>`;
    default:
      return html`<li>${alerts.waiting(target, attempts, lastError)}</li>`;
  }
}

function renderAlert(context: UserPageContext, alert: Alert, { taskId: onlyTask }: Query): Html {
  const { timeZone, now } = context;
  const { formats, alerts } = context.texts;
  const { kind, taskId, taskName, executionId, title, message, createdAt, undelivered, deliveries } = alert;
  const at = new Date(createdAt);
  return html`<li><time datetime="${at.toISOString()}" title="${formats.distance(at, now)}">${formats.time(at, timeZone)}</time><span class="node">${renderIcon(SIGNS[kind])}</span>
<div><h3>${title}${undelivered && html` <span class="tag">${alerts.notDelivered}</span>`}</h3><p>${message}</p>
${deliveries.length > 0 && html`<ul class="sent">${deliveries.map((delivery) => renderDelivery(context, delivery))}</ul>`}
<div class="do"><a href="/tasks/${taskId}">${alerts.seeTask}<span class="vh">: ${taskName}</span></a>${
    executionId !== null && html`<a href="/executions/${executionId}">${alerts.seeRun}</a>`
  }${
    onlyTask === null &&
    html`<a href="${buildAddress('/alerts', { taskId: String(taskId) })}">${alerts.onlyThisTask}<span class="vh">: ${taskName}</span></a>`
  }</div></div></li>`;
}

/** By day, newest first. */
function renderList(context: UserPageContext, alerts: readonly Alert[], query: Query): Html {
  const { formats, lists } = context.texts;
  const days = Map.groupBy(alerts, ({ createdAt }) => formats.day(new Date(createdAt), context));
  const today = formats.day(context.now, context);
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section aria-label="${day}"><h2 class="head">${day === today ? lists.today : day}</h2>
<ol class="times notes">${ofDay.map((alert) => renderAlert(context, alert, query))}</ol></section>`,
  )}`;
}

function renderEmpty({ alerts }: Texts, { taskId, cursor }: Query): Html {
  if (cursor !== undefined) return html`<p class="muted">${alerts.noEarlier}</p>`;
  const [text, href, button] =
    taskId === null
      ? [alerts.empty, '/tasks', alerts.seeTasks]
      : [alerts.emptyOfTask, `/tasks/${taskId}`, alerts.seeTask];
  return html`<div class="panel empty"><p>${text}</p><p><a class="button" href="${href}">${button}</a></p></div>`;
}

function renderLimit({ alerts }: Texts, taskId: string, taskName: string | undefined): Html {
  const task = taskName === undefined ? html`${alerts.oneTask}` : html`<a href="/tasks/${taskId}">${taskName}</a>`;
  return html`<p>${alerts.only(task, (text) => html`<a href="/alerts">${text}</a>`)}</p>`;
}

export async function showAlerts(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone, texts } = context;
  const { taskId: given, cursor } = readQuery(request);
  const query: Query = { taskId: parseId(given ?? ''), cursor };
  const input = { ...(query.taskId !== null && { taskId: query.taskId }), ...(cursor && { cursor }) };
  const { alerts, nextCursor } = unwrap(await actions.listAlerts(session, input));
  const taskId = query.taskId === null ? undefined : String(query.taskId);
  return {
    title: texts.alerts.title,
    subtitle: `${texts.alerts.subtitle} ${texts.lists.timesIn(timeZone)}.`,
    isLive: true,
    body: html`${taskId !== undefined && renderLimit(texts, taskId, alerts[0]?.taskName)}
${alerts.length > 0 ? renderList(context, alerts, query) : renderEmpty(texts, query)}
${
  (cursor !== undefined || nextCursor !== null) &&
  renderPager({
    path: '/alerts',
    query: { taskId, cursor },
    nextCursor,
    text: texts.alerts.count(alerts.length),
    texts,
  })
}`,
  };
}
