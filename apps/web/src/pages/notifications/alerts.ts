import { parseId } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { buildAddress, renderPager } from '../../components/tables.ts';
import { renderMomentOn } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { type Entry, renderEntries, renderLink, renderTabs, SIGNS } from './entries.ts';

type Alert = WebActionData<'listAlerts'>['alerts'][number];
type Delivery = Alert['deliveries'][number];

interface Query {
  taskId: number | null;
  cursor: string | undefined;
}

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

/** What a person may put away: that a task is late or fails. */
const CAUSES: readonly Alert['kind'][] = ['task.overdue', 'task.failing'];

function toEntry(context: UserPageContext, alert: Alert, { taskId: onlyTask, cursor }: Query): Entry {
  const { csrfField, texts } = context;
  const { alerts } = texts;
  const {
    id,
    kind,
    taskId,
    taskName,
    executionId,
    title,
    message,
    createdAt,
    acknowledgedAt,
    undelivered,
    deliveries,
  } = alert;
  const back = buildAddress('/alerts', { taskId: onlyTask === null ? undefined : String(onlyTask), cursor });
  return {
    at: createdAt,
    outcome: SIGNS[kind] ?? 'waiting',
    title,
    tag: undelivered ? alerts.notDelivered : acknowledgedAt !== null && alerts.acknowledged,
    message,
    isRead: false,
    more:
      deliveries.length > 0 &&
      html`<ul class="sent">${deliveries.map((delivery) => renderDelivery(context, delivery))}</ul>`,
    actions: [
      renderLink(texts, `/tasks/${taskId}`, taskName),
      executionId !== null && renderLink(texts, `/executions/${executionId}`, taskName),
      onlyTask === null &&
        html`<a href="${buildAddress('/alerts', { taskId: String(taskId) })}">${alerts.onlyThisTask}<span class="vh">: ${taskName}</span></a>`,
      acknowledgedAt === null &&
        CAUSES.includes(kind) &&
        html`<form method="post" action="/alerts/${id}/acknowledge">${csrfField}<input type="hidden" name="back" value="${back}"><button class="plain">${alerts.acknowledge}<span class="vh">: ${title}</span></button></form>`,
    ],
  };
}

function renderEmpty({ alerts, notifications }: Texts, { taskId, cursor }: Query): Html {
  if (cursor !== undefined) return html`<p class="muted">${alerts.noEarlier}</p>`;
  const [text, href, button] =
    taskId === null
      ? [alerts.empty, '/tasks', alerts.seeTasks]
      : [alerts.emptyOfTask, `/tasks/${taskId}`, notifications.see.tasks];
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
    body: html`${renderTabs(texts, 'alerts')}
${taskId !== undefined && renderLimit(texts, taskId, alerts[0]?.taskName)}
${
  alerts.length > 0
    ? renderEntries(
        context,
        alerts.map((alert) => toEntry(context, alert, query)),
      )
    : renderEmpty(texts, query)
}
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
