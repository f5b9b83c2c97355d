import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderInput, renderSelect, toFormErrors } from '../../components/fields.ts';
import { countWords, formatDay, formatDistance, formatSeconds } from '../../components/format.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { AUDIT_KINDS, describeDetails, describeKind } from './audit-text.ts';
import { renderSections } from './sections.ts';

const PAGE_SIZE = 50;

interface Filters {
  account: string | undefined;
  actor: string | undefined;
  kind: string | undefined;
}

export async function showAudit(context: UserPageContext): Promise<Page> {
  const { actions, session, request } = context;
  const query = readQuery(request);
  const filters: Filters = {
    account: query.account?.trim() || undefined,
    actor: query.actor?.trim() || undefined,
    kind: query.kind || undefined,
  };
  const cursor = query.cursor || undefined;
  const result = await actions.listAudit(session, { ...filters, limit: PAGE_SIZE, cursor });
  if (!result.success) {
    const errors = toFormErrors(result, context.texts);
    return renderPage(filters, errors, html`<p class="muted">Correct the filters to see entries.</p>`, 400);
  }
  const { entries, nextCursor } = result.data;
  if (entries.length === 0) return renderPage(filters, NO_ERRORS, renderEmpty(filters));
  const text = `${countWords(entries.length, 'entry', 'entries')}, newest first`;
  return renderPage(
    filters,
    NO_ERRORS,
    html`<div>${renderEntries(entries, context)}${renderPager({ path: '/admin/audit', query: { ...filters, cursor }, nextCursor, text, texts: context.texts })}</div>`,
  );
}

function renderPage(filters: Filters, errors: FormErrors, content: Html, status = 200): Page {
  const known = AUDIT_KINDS.some(({ value }) => value === filters.kind);
  const more = filters.kind === undefined || known ? [] : [{ value: filters.kind, text: filters.kind }];
  const options = [{ value: '', text: 'All' }, ...AUDIT_KINDS, ...more];
  return {
    title: 'Audit log',
    status,
    subtitle: 'Sign-ins, and every change by an administrator.',
    body: html`${renderSections('/admin/audit')}
<form class="sentence tools" method="get" action="/admin/audit" role="search">
${renderInput({ name: 'account', label: 'Account (e-mail or number)', value: filters.account, errors })}
${renderInput({ name: 'actor', label: 'Done by (e-mail or number)', value: filters.actor, errors })}
${renderSelect({ name: 'kind', label: 'What', options, value: filters.kind, errors })}
<button>Show</button>
</form>
${content}`,
  };
}

const renderEmpty = ({ account, actor, kind }: Filters): Html => {
  const parts = [account && `account ${account}`, actor && `done by ${actor}`, kind && describeKind(kind)];
  const named = parts.filter(Boolean).join(', ');
  return named === ''
    ? html`<div class="rows empty"><p>Sign-ins and changes will stand here.</p></div>`
    : html`<div class="rows empty"><p>No entry matches: ${named}.</p><p><a href="/admin/audit">Show all entries</a></p></div>`;
};

const renderAccount = (id: number | null, text: string): Html =>
  id === null ? html`${text}` : html`<a href="/admin/users/${id}">${text}</a>`;

function renderEntries(entries: WebActionData<'listAudit'>['entries'], context: UserPageContext): Html {
  const isOwn = (actorId: number | null, userId: number | null) => userId === null || userId === actorId;
  return renderTable(
    'Audit log, newest first',
    [{ head: 'What' }, { head: 'When' }, { head: 'Done by' }, { head: 'Account' }, { head: 'Details' }],
    entries.map(({ at, kind, actorId, actorEmail, userId, details, address }) =>
      renderRow(
        renderRowHead(describeKind(kind)),
        renderCell(renderSecond(at, context), { class: 'tight' }),
        renderCell(
          html`${actorId === null ? 'Carillon' : renderAccount(actorId, actorEmail ?? `Account ${actorId}`)}${
            address !== null && html`<span class="sub">${address}</span>`
          }`,
        ),
        renderCell(isOwn(actorId, userId) ? null : renderAccount(userId, `Account ${userId}`), { label: 'Account' }),
        renderCell(renderDetails(details), { class: 'whole' }),
      ),
    ),
  );
}

function renderSecond(at: string, { now, timeZone }: UserPageContext): Html {
  const instant = new Date(at);
  return html`<time datetime="${at}" title="${formatDistance(instant, now)}">${formatDay(instant, timeZone, now)}<span class="sub">${formatSeconds(instant, timeZone)}</span></time>`;
}

/** Nothing, if there are none: an empty cell is left out of narrow rows. */
const renderDetails = (details: Readonly<Record<string, unknown>>): Html | null => {
  const lines = describeDetails(details);
  return lines.length === 0 ? null : html`<ul class="fine muted">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
};
