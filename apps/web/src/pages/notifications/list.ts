import { ALERT_KINDS } from '@carillon/contract/tasks/alerts';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { buildAddress, renderPager } from '../../components/tables.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';

type Notification = WebActionData<'listNotifications'>['notifications'][number];

interface Query {
  show: 'unread' | undefined;
  cursor: string | undefined;
}

const SIGNS: Record<string, RunOutcome> = {
  'usage.alert': 'quota',
  'webhook.failed': 'failed',
  'channel.failed': 'failed',
  'task.failed': 'failed',
  'task.over_budget': 'quota',
  'task.overdue': 'missed',
  'task.failing': 'failed',
  'task.recovered': 'ran',
  'task.expensive': 'quota',
  'task.slow': 'late',
  'task.degraded': 'late',
  'alert.undelivered': 'failed',
  'scheduler.silent': 'failed',
  'scheduler.back': 'ran',
};
const ALERTS: readonly string[] = [...ALERT_KINDS, 'alert.undelivered'];
const MANY = 100;

/** The message of a failed webhook or channel names it. */
const WEBHOOK_ID = /\b(?:Webhook|Channel): ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

function renderLink({ notifications }: Texts, { kind, message }: Notification): Html {
  if (kind === 'usage.alert') return html`<a href="/usage">${notifications.seeUsage}</a>`;
  if (kind === 'task.failed') return html`<a href="/executions?outcome=failed">${notifications.seeFailedRuns}</a>`;
  if (kind === 'task.over_budget') return html`<a href="/tasks">${notifications.seeTasks}</a>`;
  if (ALERTS.includes(kind)) return html`<a href="/alerts">${notifications.seeAlerts}</a>`;
  if (kind.startsWith('channel.')) return html`<a href="/channels">${notifications.seeChannels}</a>`;
  if (kind.startsWith('scheduler.')) return html`<a href="/admin">${notifications.seeService}</a>`;
  if (kind !== 'webhook.failed' && kind !== 'channel.failed') return EMPTY;
  const id = WEBHOOK_ID.exec(message)?.[1];
  if (kind === 'channel.failed') return html`<a href="/channels${id && `/${id}`}">${notifications.seeChannel}</a>`;
  return html`<a href="/webhooks${id && `/${id}`}">${notifications.seeWebhook}</a>`;
}

function renderNotification(context: UserPageContext, notification: Notification, query: Query): Html {
  const { timeZone, now, csrfField, texts } = context;
  const { formats, notifications } = texts;
  const { id, kind, title, message, readAt, createdAt } = notification;
  const at = new Date(createdAt);
  const isUnread = readAt === null;
  return html`<li${!isUnread && raw(' class="read"')}><time datetime="${at.toISOString()}" title="${formats.distance(at, now)}">${formats.time(at, timeZone)}</time><span class="node">${renderIcon(SIGNS[kind] ?? 'waiting')}</span>
<div><h3>${title}${isUnread && html` <span class="tag">${notifications.new}</span>`}</h3><p>${message.replace(WEBHOOK_ID, '').replace(/ {2,}/g, ' ')}</p>
<div class="do">${renderLink(texts, notification)}${
    isUnread &&
    html`<form method="post" action="/notifications/${id}/read">${csrfField}${renderQuery(query)}<button class="plain">${notifications.markRead}<span class="vh">: ${title}</span></button></form>`
  }</div></div></li>`;
}

const renderQuery = ({ show, cursor }: Query): Html =>
  html`${show && html`<input type="hidden" name="show" value="${show}">`}${
    cursor && html`<input type="hidden" name="cursor" value="${cursor}">`
  }`;

/** By day, newest first. */
function renderList(context: UserPageContext, notifications: readonly Notification[], query: Query): Html {
  const { formats, lists } = context.texts;
  const days = Map.groupBy(notifications, ({ createdAt }) => formats.day(new Date(createdAt), context));
  const today = formats.day(context.now, context);
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section aria-label="${day}"><h2 class="head">${day === today ? lists.today : day}</h2>
<ol class="times notes">${ofDay.map((notification) => renderNotification(context, notification, query))}</ol></section>`,
  )}`;
}

const renderEmpty = ({ notifications }: Texts, { show, cursor }: Query): Html => {
  if (cursor !== undefined) return html`<p class="muted">${notifications.noEarlier}</p>`;
  return show === 'unread'
    ? html`<div class="panel empty"><p>${notifications.noUnread}</p><p><a class="button" href="/notifications">${notifications.showAll}</a></p></div>`
    : html`<div class="panel empty"><p>${notifications.empty}</p>
<p><a class="button" href="/usage#alerts">${notifications.setUsageAlert}</a></p></div>`;
};

/** The menu counts to 100. */
const describeUnread = ({ notifications }: Texts, unread: number) =>
  unread === 0 ? notifications.allRead : notifications.unread(Math.min(unread, MANY), unread >= MANY);

export async function showNotifications(context: UserPageContext): Promise<Page> {
  const { actions, session, request, viewer, csrfField, timeZone, texts } = context;
  const { show, cursor } = readQuery(request);
  const query: Query = { show: show === 'unread' ? 'unread' : undefined, cursor };
  const input = { unread: query.show === 'unread', ...(cursor && { cursor }) };
  const { notifications: found, nextCursor } = unwrap(await actions.listNotifications(session, input));
  const { notifications, lists } = texts;
  const [newest] = found;
  const tab = (href: string, text: string, isCurrent: boolean) =>
    html`<li><a href="${href}"${isCurrent && raw(' aria-current="page"')}>${text}</a></li>`;
  return {
    title: notifications.title,
    subtitle: `${describeUnread(texts, viewer.unread)} ${lists.timesIn(timeZone)}.`,
    isLive: true,
    aside:
      viewer.unread > 0 && newest && cursor === undefined
        ? html`<form method="post" action="/notifications/read-all">${csrfField}<input type="hidden" name="until" value="${newest.id}"><button>${notifications.markAllRead}</button></form>`
        : undefined,
    body: html`<nav class="tabs" aria-label="${notifications.filter}"><ul>${tab('/notifications', notifications.filterAll, !query.show)}${tab(
      buildAddress('/notifications', { show: 'unread' }),
      notifications.filterUnread,
      query.show === 'unread',
    )}</ul></nav>
${found.length > 0 ? renderList(context, found, query) : renderEmpty(texts, query)}
${
  (cursor !== undefined || nextCursor !== null) &&
  renderPager({
    path: '/notifications',
    query: { ...query },
    nextCursor,
    text: notifications.count(found.length),
    texts,
  })
}`,
  };
}
