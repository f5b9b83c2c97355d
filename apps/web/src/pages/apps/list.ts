import type { WebActionData } from '../../actions.ts';
import { renderCopyButton } from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentOn, renderMomentWithDistance } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderSections } from '../settings/sections.ts';
import { describePermissions } from './permissions.ts';

type App = WebActionData<'listApps'>['apps'][number];

const LIST = '/settings/apps';

export async function showApps(context: UserPageContext): Promise<Page> {
  const { actions, dashboard, session, texts } = context;
  const { apps } = unwrap(await actions.listApps(session, {}));
  return {
    title: texts.apps.title,
    subtitle: texts.apps.subtitle,
    scripts: [ASSET_URLS.copy],
    body: html`${renderSections(texts, LIST)}
${
  apps.length === 0
    ? html`<div class="rows"><p class="empty">${texts.apps.none}</p></div>`
    : renderTable(
        texts.apps.caption,
        [
          { head: texts.apps.name },
          { head: texts.apps.permissions },
          { head: texts.apps.lastUsed },
          { head: texts.apps.requests, class: 'num' },
          { head: html`<span class="vh">${texts.apps.disconnect}</span>` },
        ],
        apps.map((app) => renderApp(context, app)),
      )
}
<section class="gap form" aria-labelledby="connect"><h2 id="connect">${texts.apps.connect}</h2><p>${texts.apps.connectText}</p>
<dl class="facts"><dt>${texts.apps.address}</dt><dd class="copied-code"><code class="copied" id="mcp-url">${dashboard.assistantUrl}</code>${renderCopyButton('mcp-url', texts)}</dd></dl></section>`,
  };
}

function renderApp(context: UserPageContext, { id, name, host, scopes, createdAt, lastUsedAt, requests }: App): Html {
  const { apps, formats } = context.texts;
  return renderRow(
    renderRowHead(
      html`<b>${name}</b><span class="sub">${host}</span><span class="sub">${apps.connectedOn(renderMomentOn(createdAt, context))}</span>`,
    ),
    renderCell(describePermissions(context.texts, scopes), { class: 'whole' }),
    renderCell(lastUsedAt === null ? apps.never : renderMomentWithDistance(lastUsedAt, context), {
      label: apps.lastUsed,
    }),
    renderCell(formats.number(requests), { class: 'num', label: apps.requests }),
    renderCell(
      html`<form method="post" action="${LIST}/${id}/disconnect">${context.csrfField}<button class="danger" aria-label="${apps.disconnectNamed(name)}">${apps.disconnect}</button></form>`,
      { class: 'num whole' },
    ),
  );
}

export async function disconnectApp(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  const id = readUuid(context);
  const { apps } = unwrap(await actions.listApps(session, {}));
  unwrap(await actions.disconnectApp(session, { id }));
  return redirect(LIST, texts.apps.disconnected(apps.find((app) => app.id === id)?.name ?? ''));
}
