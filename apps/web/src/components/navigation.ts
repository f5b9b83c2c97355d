import { html, raw } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import type { UserPageContext } from '../page.ts';
import { formatTime } from './format.ts';

/** The entries of the menu, in groups. */
const GROUPS = [
  [
    { href: '/', text: 'Home' },
    { href: '/tasks', text: 'Tasks' },
    { href: '/executions', text: 'Runs' },
    { href: '/agent', text: 'Agent' },
    { href: '/files', text: 'Files' },
  ],
  [
    { href: '/alerts', text: 'Alerts' },
    { href: '/channels', text: 'Channels' },
    { href: '/webhooks', text: 'Webhooks' },
  ],
  [
    { href: '/notifications', text: 'Notifications' },
    { href: '/usage', text: 'Usage' },
    { href: '/settings', text: 'Settings' },
  ],
];

const ADMIN_GROUP = [{ href: '/admin', text: 'Administration' }];

const MOST_UNREAD = 100;

const renderUnread = (unread: number) =>
  unread > 0 && html` <span class="tag">${unread < MOST_UNREAD ? unread : '99+'}<span class="vh"> unread</span></span>`;

const isCurrent = (href: string, path: string) => path === href || (href !== '/' && path.startsWith(`${href}/`));

export function renderNavigation({ viewer, request, timeZone, now, csrfField }: UserPageContext) {
  const [path = '/'] = request.url.split('?');
  const groups = viewer.role === 'ADMIN' ? [...GROUPS, ADMIN_GROUP] : GROUPS;
  const place = timeZone.split('/').at(-1)?.replaceAll('_', ' ');
  return html`<div class="side">
<header class="bar">
<a class="brand" href="/"><img src="${ASSET_URLS.mark}" alt="" width="24" height="24">Carillon</a>
<button class="menu-button" type="button" popovertarget="menu">Menu</button>
</header>
<nav class="menu" id="menu" popover aria-label="Main">
${groups.map(
  (group) =>
    html`<ul>${group.map(
      ({ href, text }) =>
        html`<li><a href="${href}"${isCurrent(href, path) && raw(' aria-current="page"')}>${text}${
          href === '/notifications' && renderUnread(viewer.unread)
        }</a></li>`,
    )}</ul>`,
)}
<form class="me" method="post" action="/sign-out">${csrfField}
<b>${viewer.name}</b>
<span>${place} time, ${formatTime(now, timeZone)}</span>
<button class="quiet">Sign out</button>
</form>
</nav>
</div>`;
}
