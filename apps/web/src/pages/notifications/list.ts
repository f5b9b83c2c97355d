import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderPager } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { type Entry, renderEntries, renderLink, renderTabs, SIGNS } from './entries.ts';

type Notification = WebActionData<'listNotifications'>['notifications'][number];

interface Query {
  show: 'unread' | undefined;
  cursor: string | undefined;
}

const MANY = 100;

function toEntry({ csrfField, texts }: UserPageContext, notification: Notification, query: Query): Entry {
  const { notifications } = texts;
  const { id, kind, title, message, path, readAt, createdAt } = notification;
  const isUnread = readAt === null;
  return {
    at: createdAt,
    outcome: SIGNS[kind] ?? 'waiting',
    title,
    tag: isUnread && notifications.new,
    message,
    isRead: !isUnread,
    actions: [
      path !== null && renderLink(texts, path, title),
      isUnread &&
        html`<form method="post" action="/notifications/${id}/read">${csrfField}${renderQuery(query)}<button class="plain">${notifications.markRead}<span class="vh">: ${title}</span></button></form>`,
    ],
  };
}

const renderQuery = ({ show, cursor }: Query): Html =>
  html`${show && html`<input type="hidden" name="show" value="${show}">`}${
    cursor && html`<input type="hidden" name="cursor" value="${cursor}">`
  }`;

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
  return {
    title: notifications.title,
    subtitle: `${describeUnread(texts, viewer.unread)} ${lists.timesIn(timeZone)}.`,
    isLive: true,
    aside:
      viewer.unread > 0 && newest && cursor === undefined
        ? html`<form method="post" action="/notifications/read-all">${csrfField}<input type="hidden" name="until" value="${newest.id}"><button>${notifications.markAllRead}</button></form>`
        : undefined,
    body: html`${renderTabs(texts, query.show ?? 'all')}
${
  found.length > 0
    ? renderEntries(
        context,
        found.map((notification) => toEntry(context, notification, query)),
      )
    : renderEmpty(texts, query)
}
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
