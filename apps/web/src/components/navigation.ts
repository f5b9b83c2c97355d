import type { Texts } from '@carillon/texts';
import { html, raw } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import type { UserPageContext } from '../page.ts';
import { formatZone } from './schedule/render.ts';

/** The entries of the menu, in groups. */
const GROUPS = [
  [
    { href: '/', name: 'home' },
    { href: '/tasks', name: 'tasks' },
    { href: '/executions', name: 'runs' },
    { href: '/agent', name: 'agent' },
    { href: '/files', name: 'files' },
  ],
  [
    { href: '/alerts', name: 'alerts' },
    { href: '/channels', name: 'channels' },
    { href: '/webhooks', name: 'webhooks' },
  ],
  [
    { href: '/notifications', name: 'notifications' },
    { href: '/usage', name: 'usage' },
    { href: '/settings', name: 'settings' },
  ],
] as const;

const ADMIN_GROUP = [{ href: '/admin', name: 'administration' }] as const;

const MOST_UNREAD = 100;

const renderUnread = (unread: number, texts: Texts['navigation']) =>
  unread > 0 &&
  html` <span class="tag">${unread < MOST_UNREAD ? unread : '99+'}<span class="vh"> ${texts.unread}</span></span>`;

const isCurrent = (href: string, path: string) => path === href || (href !== '/' && path.startsWith(`${href}/`));

export function renderNavigation({
  viewer,
  request,
  timeZone,
  now,
  csrfField,
  texts: { navigation: texts, formats },
}: UserPageContext) {
  const [path = '/'] = request.url.split('?');
  const groups = viewer.role === 'ADMIN' ? [...GROUPS, ADMIN_GROUP] : GROUPS;
  return html`<div class="side">
<header class="bar">
<a class="brand" href="/"><img src="${ASSET_URLS.mark}" alt="" width="24" height="24">Carillon</a>
<button class="menu-button" type="button" popovertarget="menu">${texts.menu}</button>
</header>
<nav class="menu" id="menu" popover aria-label="${texts.main}">
${groups.map(
  (group) =>
    html`<ul>${group.map(
      ({ href, name }) =>
        html`<li><a href="${href}"${isCurrent(href, path) && raw(' aria-current="page"')}>${texts[name]}${
          href === '/notifications' && renderUnread(viewer.unread, texts)
        }</a></li>`,
    )}</ul>`,
)}
<form class="me" method="post" action="/sign-out">${csrfField}
<b>${viewer.name}</b>
<span>${texts.localTime(formatZone(timeZone), formats.time(now, timeZone))}</span>
<button class="quiet">${texts.signOut}</button>
</form>
</nav>
</div>`;
}
