import type { Texts } from '@carillon/texts';
import { EMPTY, html, raw } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import type { UserPageContext } from '../page.ts';
import { formatZone } from './schedule/render.ts';

/** In a box of 24 × 24, as lines. */
const ICONS = {
  home: 'M4 11.5 12 5l8 6.5V20h-5.5v-5h-5v5H4z',
  tasks: 'M3 8.5h18M3 19.5h18M6 8.5v-4M11 8.5v-4M18 8.5v-4M8 19.5v-5M13 19.5v-5M18 19.5v-5',
  runs: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM10.2 8.8v6.4l5-3.2z',
  agent:
    'M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-7l-4.5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM8.5 10.5h.01M12 10.5h.01M15.5 10.5h.01',
  files: 'M6 3.5h8l4.5 4.5v12.5H6zM14 3.5V8h4.5',
  channels: 'M20.5 3.5 3.5 10l6.5 3.5m10.5-10L14 20.5l-4-7m10.5-10L10 13.5',
  webhooks: 'M8.5 8 4.5 12l4 4M15.5 8l4 4-4 4M13.2 5.5l-2.4 13',
  notifications: 'M4 13.5 6.5 5h11l2.5 8.5V19H4zM4 13.5h4.5l1.2 2.5h4.6l1.2-2.5H20',
  usage: 'M4 20h16M6.5 20v-6M11 20V9M15.5 20v-8M20 20V4.5',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM9 14.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z',
  administration: 'M12 3.5 4.5 6.2v5.3c0 4.4 3 7.3 7.5 9 4.5-1.7 7.5-4.6 7.5-9V6.2zM9 12l2.2 2.2L15.2 10',
  newTask: 'M12 5v14M5 12h14',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5',
} as const;

/** The entries of the menu, in groups. The first one needs no name to be seen. */
const GROUPS = [
  {
    name: 'work',
    entries: [
      { href: '/search', name: 'search' },
      { href: '/', name: 'home' },
      { href: '/tasks', name: 'tasks' },
      { href: '/executions', name: 'runs' },
      { href: '/agent', name: 'agent' },
      { href: '/files', name: 'files' },
    ],
  },
  {
    name: 'sending',
    entries: [
      { href: '/channels', name: 'channels' },
      { href: '/webhooks', name: 'webhooks' },
    ],
  },
  {
    name: 'account',
    entries: [
      { href: '/notifications', name: 'notifications' },
      { href: '/usage', name: 'usage' },
      { href: '/settings', name: 'settings' },
    ],
  },
] as const;

const ADMIN_GROUP = { name: 'server', entries: [{ href: '/admin', name: 'administration' }] } as const;

/** In reach of a thumb on phones. */
const SHORTCUTS = [
  { href: '/', name: 'home' },
  { href: '/tasks', name: 'tasks' },
  { href: '/executions', name: 'runs' },
  { href: '/tasks/new', name: 'newTask' },
] as const;

const renderIcon = (name: keyof typeof ICONS) =>
  raw(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`);

const MOST_COUNTED = 100;

export const formatCount = (count: number): string => (count < MOST_COUNTED ? String(count) : `${MOST_COUNTED - 1}+`);

/** It stays without a count, so that a refresh of the page finds it. */
const renderCount = (id: string, count: number, text: string, icon?: string) =>
  html` <span class="tag" id="${id}"${icon !== undefined && html` data-icon="${icon}"`}${count === 0 && raw(' hidden')}>${formatCount(count)}<span class="vh"> ${text}</span></span>`;

/** The icon of the page in the browser. */
export const chooseIcon = ({ viewer }: UserPageContext, unseenRuns: number): string =>
  viewer.hasTrouble ? ASSET_URLS.markTrouble : unseenRuns > 0 ? ASSET_URLS.markNews : ASSET_URLS.mark;

type Entry = { href: string; name: keyof typeof ICONS };

/** The pages that the menu leads to, and the form of a new task. */
export const listPages = (texts: Texts['navigation']): { href: string; text: string }[] => [
  ...GROUPS.flatMap(({ entries }): readonly Entry[] => entries)
    .filter(({ name }) => name !== 'search')
    .map(({ href, name }) => ({ href, text: texts[name] })),
  { href: '/alerts', text: texts.alerts },
  { href: '/tasks/new', text: texts.newTask },
];

/** Alerts are a part of the notifications. */
const isCurrent = (href: string, path: string) =>
  path === href || (href !== '/' && path.startsWith(`${href}/`)) || (href === '/notifications' && path === '/alerts');

export function renderNavigation(context: UserPageContext, unseenRuns: number) {
  const { viewer, request, timeZone, now, csrfField } = context;
  const { navigation: texts, formats } = context.texts;
  const [path = '/'] = request.url.split('?');
  const groups = viewer.role === 'ADMIN' ? [...GROUPS, ADMIN_GROUP] : GROUPS;
  return html`<div class="side">
<header class="bar">
<a class="brand" href="/"><img src="${ASSET_URLS.mark}" alt="" width="24" height="24">Carillon</a>
<button class="menu-button" type="button" popovertarget="menu">${texts.menu}</button>
</header>
<nav class="menu" id="menu" popover aria-label="${texts.main}">
${groups.map(
  ({ name: group, entries }) =>
    html`<p class="group" id="menu-${group}">${texts[group]}</p>
<ul aria-labelledby="menu-${group}">${entries.map(
      ({ href, name }) =>
        html`<li><a href="${href}"${isCurrent(href, path) && raw(' aria-current="page"')}${href === '/search' && raw(' aria-keyshortcuts="Control+K Meta+K"')}>${renderIcon(name)}${texts[name]}${
          href === '/notifications' && renderCount('unread', viewer.unread, texts.unread)
        }${href === '/executions' && renderCount('unseen-runs', unseenRuns, texts.unseen, chooseIcon(context, unseenRuns))}</a></li>`,
    )}</ul>`,
)}
<form class="me" method="post" action="/sign-out">${csrfField}
<b>${viewer.name}</b>
<span>${texts.localTime(formatZone(timeZone), formats.time(now, timeZone))}</span>
${csrfField !== EMPTY && html`<button class="quiet">${texts.signOut}</button>`}
</form>
</nav>
</div>`;
}

/** The bar at the bottom of phones. */
export function renderShortcuts({ request, texts: { navigation: texts } }: UserPageContext) {
  const [path = '/'] = request.url.split('?');
  return html`<nav class="shortcuts" aria-label="${texts.shortcuts}"><ul>${SHORTCUTS.map(
    ({ href, name }) =>
      html`<li><a href="${href}"${path === href && raw(' aria-current="page"')}>${renderIcon(name)}${texts[name]}</a></li>`,
  )}</ul></nav>`;
}
