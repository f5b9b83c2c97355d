import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderInput, renderSelect, toFormErrors } from '../../components/fields.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { describeDetails, describeEvent } from './audit-details.ts';
import { renderSections } from './sections.ts';

const PAGE_SIZE = 50;

interface Filters {
  account: string | undefined;
  actor: string | undefined;
  kind: string | undefined;
}

export async function showAudit(context: UserPageContext): Promise<Page> {
  const { actions, session, request, texts } = context;
  const query = readQuery(request);
  const filters: Filters = {
    account: query.account?.trim() || undefined,
    actor: query.actor?.trim() || undefined,
    kind: query.kind || undefined,
  };
  const cursor = query.cursor || undefined;
  const result = await actions.listAudit(session, { ...filters, limit: PAGE_SIZE, cursor });
  if (!result.success) {
    const errors = toFormErrors(result, texts);
    return renderPage(texts, filters, errors, html`<p class="muted">${texts.audit.correct}</p>`, 400);
  }
  const { entries, nextCursor } = result.data;
  if (entries.length === 0) return renderPage(texts, filters, NO_ERRORS, renderEmpty(texts, filters));
  const text = texts.audit.entries(entries.length);
  return renderPage(
    texts,
    filters,
    NO_ERRORS,
    html`<div>${renderEntries(entries, context)}${renderPager({ texts, path: '/admin/audit', query: { ...filters, cursor }, nextCursor, text })}</div>`,
  );
}

function renderPage(texts: Texts, filters: Filters, errors: FormErrors, content: Html, status = 200): Page {
  const { audit, forms } = texts;
  const known = Object.entries(audit.events).map(([value, text]) => ({ value, text }));
  const isKnown = filters.kind === undefined || known.some(({ value }) => value === filters.kind);
  const more = isKnown ? [] : [{ value: filters.kind ?? '', text: filters.kind ?? '' }];
  const options = [{ value: '', text: audit.all }, ...known, ...more];
  return {
    title: audit.title,
    status,
    subtitle: audit.subtitle,
    body: html`${renderSections(texts, '/admin/audit')}
<form class="sentence tools" method="get" action="/admin/audit" role="search">
${renderInput({ name: 'account', label: audit.account, value: filters.account, errors })}
${renderInput({ name: 'actor', label: audit.actor, value: filters.actor, errors })}
${renderSelect({ name: 'kind', label: audit.event, options, value: filters.kind, errors })}
<button>${forms.apply}</button>
</form>
${content}`,
  };
}

const renderEmpty = (texts: Texts, { account, actor, kind }: Filters): Html => {
  const { audit } = texts;
  const parts = [
    account && audit.ofAccount(account),
    actor && audit.byActor(actor),
    kind && describeEvent(texts, kind),
  ];
  const named = parts.filter(Boolean).join(', ');
  return named === ''
    ? html`<div class="rows empty"><p>${audit.none}</p></div>`
    : html`<div class="rows empty"><p>${audit.noMatch(named)}</p><p><a href="/admin/audit">${audit.showAll}</a></p></div>`;
};

const renderAccount = (id: number | null, text: string): Html =>
  id === null ? html`${text}` : html`<a href="/admin/users/${id}">${text}</a>`;

function renderEntries(entries: WebActionData<'listAudit'>['entries'], context: UserPageContext): Html {
  const { texts } = context;
  const { audit } = texts;
  const isOwn = (actorId: number | null, userId: number | null) => userId === null || userId === actorId;
  return renderTable(
    audit.caption,
    [
      { head: audit.event },
      { head: audit.time },
      { head: audit.by },
      { head: audit.accountHead },
      { head: audit.details },
    ],
    entries.map(({ at, kind, actorId, actorEmail, userId, details, address }) =>
      renderRow(
        renderRowHead(describeEvent(texts, kind)),
        renderCell(renderSecond(at, context), { class: 'tight' }),
        renderCell(
          html`${actorId === null ? 'Carillon' : renderAccount(actorId, actorEmail ?? audit.accountOf(actorId))}${
            address !== null && html`<span class="sub">${address}</span>`
          }`,
        ),
        renderCell(isOwn(actorId, userId) ? null : renderAccount(userId, audit.accountOf(userId ?? 0)), {
          label: audit.accountHead,
        }),
        renderCell(renderDetails(context, details), { class: 'whole' }),
      ),
    ),
  );
}

function renderSecond(at: string, context: UserPageContext): Html {
  const { now, timeZone, texts } = context;
  const { formats } = texts;
  const instant = new Date(at);
  return html`<time datetime="${at}" title="${formats.distance(instant, now)}">${formats.day(instant, context)}<span class="sub">${formats.timeWithSeconds(instant, timeZone)}</span></time>`;
}

/** Nothing, if there are none: an empty cell is left out of narrow rows. */
const renderDetails = (context: UserPageContext, details: Readonly<Record<string, unknown>>): Html | null => {
  const lines = describeDetails(context, details);
  return lines.length === 0 ? null : html`<ul class="fine muted">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
};
