import { EVENT_KINDS } from '@carillon/contract/webhooks/events';
import type { Texts } from '@carillon/texts';
import { chooseIcon, formatCount, renderNavigation, renderShortcuts } from './components/navigation.ts';
import { renderSearchDialog } from './components/search-dialog.ts';
import { signInPicture } from './components/sign-in-picture.ts';
import { EMPTY, type Html, html, raw } from './html.ts';
import { ASSET_URLS } from './http/assets.ts';
import type { Notice, Page, PageContext, UserPageContext } from './page.ts';

interface Frame {
  page: Page;
  notice: Notice | null;
  theme: 'light' | 'dark' | null;
}

const renderHead = (
  { title, isLive, scripts = [] }: Page,
  { navigation }: Texts,
  { unseen, icon }: { unseen: number; icon: string } = { unseen: 0, icon: ASSET_URLS.mark },
) => html`<head>
<meta charset="utf-8">
<title>${unseen > 0 && `(${formatCount(unseen)}) `}${title} · Carillon</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${navigation.description}">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#151d1b" media="(prefers-color-scheme: dark)">
<meta name="htmx-config" content='{"includeIndicatorStyles":false,"allowEval":false,"morphIgnore":["data-htmx-powered","open"]}'>
<link rel="preload" href="${ASSET_URLS.latin}" as="font" type="font/woff2" crossorigin>
<link rel="icon" id="icon" href="${icon}" type="image/svg+xml">
<link rel="apple-touch-icon" href="${ASSET_URLS.touchIcon}">
<link rel="manifest" href="${ASSET_URLS.manifest}">
<link rel="stylesheet" href="${ASSET_URLS.styles}">
<script src="${ASSET_URLS.htmx}" defer></script>
${isLive && html`<script src="${ASSET_URLS.live}" type="module"></script>`}${scripts.map((address) => html`<script src="${address}" type="module"></script>`)}
</head>`;

const renderNotice = (notice: Notice | null) =>
  notice ? html`<div class="notice ${notice.kind}" role="status"><p>${notice.text}</p></div>` : EMPTY;

const renderHeader = (
  { title, subtitle, aside, breadcrumb, isLive }: Page,
  { navigation }: Texts,
) => html`<div class="top">
<div>${breadcrumb && html`<a class="crumb" href="${breadcrumb.href}">${breadcrumb.text}</a>`}<h1>${title}</h1>${subtitle && html`<p>${subtitle}</p>`}</div>
${(aside || isLive) && html`<div class="do">${isLive && html`<p class="live" id="live" role="status" hx-morph-skip data-live="${navigation.live}" data-lost="${navigation.lost}" data-off="${navigation.notLive}" data-paused="${navigation.livePaused}"></p>`}${aside}</div>`}
</div>`;

const renderHtml = ({ language }: Texts, theme: Frame['theme'], head: Html, body: Html) =>
  html`${raw('<!doctype html>')}
<html lang="${language}"${theme && raw(` data-theme="${theme}"`)}>
${head}
${body}
</html>`;

/** The page of a signed-in user, with the navigation. */
export function renderSignedIn(context: UserPageContext, { page, notice, theme }: Frame): Html {
  const { isLive = false, body, seen = 0 } = page;
  const unseen = context.viewer.unseenRuns - seen;
  const refresh = isLive
    ? raw(
        ' hx-get="" hx-trigger="carillon:changed from:body" hx-select="#main" hx-select-oob="#unseen-runs,#unread" hx-target="this" hx-swap="outerMorph"',
      )
    : EMPTY;
  return renderHtml(
    context.texts,
    theme,
    renderHead(page, context.texts, { unseen, icon: chooseIcon(context, unseen) }),
    html`<body data-events="${EVENT_KINDS.join(' ')}" data-after="${context.viewer.lastEventId}">
<a class="skip" href="#main">${context.texts.navigation.skip}</a>
${renderNavigation(context, unseen)}
<main id="main" tabindex="-1"${refresh}>
<div class="notices" id="notices" hx-morph-skip>${renderNotice(notice)}</div>
${renderHeader(page, context.texts)}
${body}
</main>
${renderShortcuts(context)}
${context.request.routeOptions.url !== '/search' && renderSearchDialog(context)}
</body>`,
  );
}

/** A page without a session: a form in the middle, next to a picture. */
export function renderSignedOut(
  { dashboard, texts }: Pick<PageContext, 'dashboard' | 'texts'>,
  { page, notice, theme }: Frame,
): Html {
  const { title, body, subtitle } = page;
  return renderHtml(
    texts,
    theme,
    renderHead({ ...page, isLive: false }, texts),
    html`<body class="signed-out">
<main id="main">
<p class="brand"><img src="${ASSET_URLS.mark}" alt="" width="40" height="40">Carillon</p>
${renderNotice(notice)}
<h1>${title}</h1>
<p class="muted">${subtitle ?? new URL(dashboard.appUrl).host}</p>
${body}
</main>
<figure>${signInPicture}</figure>
</body>`,
  );
}
