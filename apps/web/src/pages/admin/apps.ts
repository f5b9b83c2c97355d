import type { WebActionData } from '../../actions.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToConfirm, needsConfirmation } from './requests.ts';
import { renderSections } from './sections.ts';

type Client = WebActionData<'listClients'>['clients'][number];

const LIST = '/admin/apps';

/** The programs that accounts are connected to. */
export async function showClients(context: UserPageContext): Promise<Page> {
  const { actions, request, session, texts } = context;
  const { admin: app, ...apps } = texts.apps;
  const { cursor } = readQuery(request);
  const { clients, nextCursor } = unwrap(await actions.listClients(session, cursor ? { cursor } : {}));
  const heads = [
    { head: apps.name },
    { head: app.accounts, class: 'num' },
    { head: apps.lastUsed },
    { head: html`<span class="vh">${app.block}</span>` },
  ];
  const rows = clients.map((client) => renderClient(context, client));
  return {
    title: app.title,
    subtitle: app.text,
    body: html`${renderSections(texts, LIST)}${
      clients.length === 0
        ? html`<div class="rows"><p class="empty">${app.none}</p></div>`
        : renderTable(app.caption, heads, rows)
    }${(cursor || nextCursor) && renderPager({ path: LIST, query: { cursor }, nextCursor, text: '', texts })}`,
  };
}

function renderClient(context: UserPageContext, { id, name, host, blockedAt, accounts, lastUsedAt }: Client): Html {
  const { csrfField, texts } = context;
  const { apps, formats } = texts;
  const isBlocked = blockedAt !== null;
  const [text, label] = isBlocked
    ? [apps.admin.unblock, apps.admin.unblockNamed(name)]
    : [apps.admin.block, apps.admin.blockNamed(name)];
  return renderRow(
    renderRowHead(
      html`<b>${name}</b>${isBlocked && html` <span class="tag">${apps.admin.isBlocked}</span>`}<span class="sub">${host}</span>`,
    ),
    renderCell(formats.number(accounts), { class: 'num', label: apps.admin.accounts }),
    renderCell(lastUsedAt === null ? apps.never : renderMomentWithDistance(lastUsedAt, context), {
      label: apps.lastUsed,
    }),
    renderCell(
      html`<form method="post" action="${LIST}">${csrfField}<input type="hidden" name="id" value="${id}"><button name="action" value="${isBlocked ? 'unblock' : 'block'}" aria-label="${label}"${!isBlocked && html` class="danger"`}>${text}</button></form>`,
      { class: 'num whole' },
    ),
  );
}

export async function changeClient(context: UserPageContext): Promise<Redirect> {
  const { actions, request, session, texts } = context;
  const form = readForm(request);
  const blocked = form.text('action') === 'block';
  const result = await actions.changeClient(session, { id: form.text('id'), blocked });
  if (needsConfirmation(result)) return askToConfirm(context, LIST);
  const { name } = unwrap(result);
  return redirect(LIST, texts.apps.admin[blocked ? 'blocked' : 'unblocked'](name));
}
