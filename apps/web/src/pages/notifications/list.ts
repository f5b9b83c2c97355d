import { ALERT_KINDS } from '@carillon/contract/tasks/alerts';
import type { WebActionData } from '../../actions.ts';
import { countWords, formatDay, formatDistance, formatTime } from '../../components/format.ts';
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
  'alert.undelivered': 'failed',
  'scheduler.silent': 'failed',
  'scheduler.back': 'ran',
};
const ALERTS: readonly string[] = [...ALERT_KINDS, 'alert.undelivered'];
const MANY = 100;

/** The message of a failed webhook or channel names it. */
const WEBHOOK_ID = /\b(?:Webhook|Channel): ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

function renderLink({ kind, message }: Notification): Html {
  if (kind === 'usage.alert') return html`<a href="/usage">See usage</a>`;
  if (kind === 'task.failed') return html`<a href="/executions?status=failed">See failed runs</a>`;
  if (kind === 'task.over_budget') return html`<a href="/tasks">See tasks</a>`;
  if (ALERTS.includes(kind)) return html`<a href="/alerts">See alerts</a>`;
  if (kind.startsWith('channel.')) return html`<a href="/channels">See channels</a>`;
  if (kind.startsWith('scheduler.')) return html`<a href="/admin">See the service</a>`;
  if (kind !== 'webhook.failed' && kind !== 'channel.failed') return EMPTY;
  const id = WEBHOOK_ID.exec(message)?.[1];
  if (kind === 'channel.failed') return html`<a href="/channels${id && `/${id}`}">See the channel</a>`;
  return html`<a href="/webhooks${id && `/${id}`}">See the webhook</a>`;
}

function renderNotification(context: UserPageContext, notification: Notification, query: Query): Html {
  const { timeZone, now, csrfField } = context;
  const { id, kind, title, message, readAt, createdAt } = notification;
  const at = new Date(createdAt);
  const isUnread = readAt === null;
  return html`<li${!isUnread && raw(' class="read"')}><time datetime="${at.toISOString()}" title="${formatDistance(at, now)}">${formatTime(at, timeZone)}</time><span class="node">${renderIcon(SIGNS[kind] ?? 'waiting')}</span>
<div><h3>${title}${isUnread && html` <span class="tag">new</span>`}</h3><p>${message.replace(WEBHOOK_ID, '').replace(/ {2,}/g, ' ')}</p>
<div class="do">${renderLink(notification)}${
    isUnread &&
    html`<form method="post" action="/notifications/${id}/read">${csrfField}${renderQuery(query)}<button class="plain">Mark as read<span class="vh">: ${title}</span></button></form>`
  }</div></div></li>`;
}

const renderQuery = ({ show, cursor }: Query): Html =>
  html`${show && html`<input type="hidden" name="show" value="${show}">`}${
    cursor && html`<input type="hidden" name="cursor" value="${cursor}">`
  }`;

/** By day, newest first. */
function renderList(context: UserPageContext, notifications: readonly Notification[], query: Query): Html {
  const { timeZone, now } = context;
  const days = Map.groupBy(notifications, ({ createdAt }) => formatDay(new Date(createdAt), timeZone, now));
  const today = formatDay(now, timeZone, now);
  return html`${[...days].map(
    ([day, ofDay]) =>
      html`<section aria-label="${day}"><h2 class="head">${day === today ? 'Today' : day}</h2>
<ol class="times notes">${ofDay.map((notification) => renderNotification(context, notification, query))}</ol></section>`,
  )}`;
}

const renderEmpty = ({ show, cursor }: Query): Html => {
  if (cursor !== undefined) return html`<p class="muted">There are no earlier ones.</p>`;
  return show === 'unread'
    ? html`<div class="panel empty"><p>No notification is unread.</p><p><a class="button" href="/notifications">Show all</a></p></div>`
    : html`<div class="panel empty"><p>What Carillon had to tell you will stand here: a task that was stopped because it failed, a webhook that is off, a limit that comes near.</p>
<p><a class="button" href="/usage#alerts">Set an alert for your usage</a></p></div>`;
};

/** The menu counts to 100. */
const describeUnread = (unread: number) =>
  unread === 0 ? 'All are read.' : `${unread >= MANY ? '100 or more' : unread} unread.`;

export async function showNotifications(context: UserPageContext): Promise<Page> {
  const { actions, session, request, viewer, csrfField, timeZone } = context;
  const { show, cursor } = readQuery(request);
  const query: Query = { show: show === 'unread' ? 'unread' : undefined, cursor };
  const input = { unread: query.show === 'unread', ...(cursor && { cursor }) };
  const { notifications, nextCursor } = unwrap(await actions.listNotifications(session, input));
  const [newest] = notifications;
  const tab = (href: string, text: string, isCurrent: boolean) =>
    html`<li><a href="${href}"${isCurrent && raw(' aria-current="page"')}>${text}</a></li>`;
  return {
    title: 'Notifications',
    subtitle: `${describeUnread(viewer.unread)} Times in ${timeZone}.`,
    isLive: true,
    aside:
      viewer.unread > 0 && newest && cursor === undefined
        ? html`<form method="post" action="/notifications/read-all">${csrfField}<input type="hidden" name="until" value="${newest.id}"><button>Mark all as read</button></form>`
        : undefined,
    body: html`<nav class="tabs" aria-label="Which notifications"><ul>${tab('/notifications', 'All', !query.show)}${tab(
      buildAddress('/notifications', { show: 'unread' }),
      'Unread',
      query.show === 'unread',
    )}</ul></nav>
${notifications.length > 0 ? renderList(context, notifications, query) : renderEmpty(query)}
${
  (cursor !== undefined || nextCursor !== null) &&
  renderPager({
    path: '/notifications',
    query: { ...query },
    nextCursor,
    text: countWords(notifications.length, 'notification'),
  })
}`,
  };
}
