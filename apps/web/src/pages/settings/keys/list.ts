import { randomUUID } from 'node:crypto';
import { API_KEY_SCOPES, type ApiKeyScope, ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';
import type { WebActionData } from '../../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFieldError,
  renderFormError,
  renderInput,
  renderSelect,
} from '../../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { renderMomentOn, renderMomentWithDistance } from '../../../components/times.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readQuery } from '../../../http/forms.ts';
import type { Page } from '../../../page.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import { renderConfirmation } from '../confirmation.ts';
import { renderSections } from '../sections.ts';
import { FOR_ASSISTANT, renderAssistants } from './assistants.ts';

export type Key = WebActionData<'listKeys'>['keys'][number];

export interface KeyValues {
  /** The key gets it, so that a form that is sent twice makes one key. */
  id: string;
  name: string;
  scopes: readonly string[];
  expiry: string;
}

/** An account has at most 25 keys. */
const ALL = { limit: 100 };

export const EXPIRIES = [
  { value: '30', text: 'in 30 days' },
  { value: '90', text: 'in 90 days' },
  { value: '365', text: 'in a year' },
  { value: 'never', text: 'never' },
];

export const listKeys = async ({ actions, session }: UserPageContext): Promise<readonly Key[]> =>
  unwrap(await actions.listKeys(session, ALL)).keys;

/** A link may propose the scopes of an assistant. */
export function showKeys(context: UserPageContext): Promise<Page> {
  const isForAssistant = readQuery(context.request).for === FOR_ASSISTANT;
  const proposed = isForAssistant ? { name: 'Assistant', scopes: ASSISTANT_SCOPES } : { name: '', scopes: [] };
  return renderKeys(context, { id: randomUUID(), expiry: '90', ...proposed }, NO_ERRORS);
}

export async function renderKeys(context: UserPageContext, values: KeyValues, errors: FormErrors): Promise<Page> {
  const keys = await listKeys(context);
  return {
    title: 'API keys',
    subtitle: 'With a key, a program does what you allow it to, without your password.',
    body: html`${renderSections('/settings/keys')}
${renderList(context, keys)}
<section aria-labelledby="new-key"><div class="head"><h2 id="new-key">New key</h2><a href="/settings/keys?for=${FOR_ASSISTANT}#new-key">For an assistant</a></div>${renderForm(context, values, errors)}</section>
${renderAssistants(context)}`,
  };
}

const renderList = (context: UserPageContext, keys: readonly Key[]): Html =>
  keys.length === 0
    ? html`<div class="rows"><p class="empty">Your keys will stand here, with what they may do and when they were used last. Create the first one with the form.</p></div>`
    : renderTable(
        'Your API keys, newest first',
        [
          { head: 'Name' },
          { head: 'May' },
          { head: 'Last used' },
          { head: 'Expires' },
          { head: html`<span class="vh">Change</span>` },
        ],
        keys.map((key) => renderKey(context, key)),
      );

function renderKey(
  context: UserPageContext,
  { id, name, prefix, scopes, createdAt, lastUsedAt, expiresAt }: Key,
): Html {
  const isExpired = expiresAt !== null && new Date(expiresAt) <= context.now;
  return renderRow(
    renderRowHead(
      html`<b>${name}</b><span class="sub"><code>${prefix}…</code> created ${renderMomentOn(createdAt, context)}</span>`,
    ),
    renderCell(
      html`${scopes.map((scope) => html`<span class="tag calm" title="${API_KEY_SCOPES[scope]}">${scope}</span> `)}`,
      { class: 'whole' },
    ),
    renderCell(lastUsedAt === null ? 'never' : renderMomentWithDistance(lastUsedAt, context), { label: 'last used' }),
    renderCell(
      expiresAt === null
        ? 'never'
        : html`${isExpired && html`<b>expired</b> `}${renderMomentWithDistance(expiresAt, context)}`,
      { label: 'expires' },
    ),
    renderCell(
      html`<a class="button" href="/settings/keys/${id}" aria-label="Rename ${name}">Rename</a> <a class="button danger" href="/settings/keys/${id}/delete" aria-label="Delete ${name}…">Delete…</a>`,
      { class: 'num whole' },
    ),
  );
}

function renderForm({ csrfField, viewer, texts }: UserPageContext, values: KeyValues, errors: FormErrors): Html {
  const scopes = Object.entries(API_KEY_SCOPES) as [ApiKeyScope, string][];
  const offered = scopes.filter(([scope]) => scope !== 'admin' || viewer.role === 'ADMIN');
  return html`<form class="panel gap" method="post" action="/settings/keys">${csrfField}
<input type="hidden" name="id" value="${values.id}">
${renderFormError(errors, texts)}
<div class="narrow">${renderInput({ name: 'name', label: 'Name', value: values.name, autocomplete: 'off', required: true, hint: 'Such as the program that uses it', errors })}</div>
<fieldset class="scopes"${errors.fields.scopes && raw(' aria-describedby="scopes-error"')}><legend>It may</legend>
${offered.map(
  ([scope, words]) =>
    html`<label class="check"><input type="checkbox" name="scopes" value="${scope}"${values.scopes.includes(scope) && raw(' checked')}><span>${words}<span class="sub">${scope}</span></span></label>`,
)}
${renderFieldError('scopes', errors)}</fieldset>
<div class="narrow">${renderSelect({ name: 'expiry', label: 'It expires', options: EXPIRIES, value: values.expiry, errors })}</div>
${renderConfirmation(errors)}
<div class="do"><button class="primary">Create key</button></div>
</form>`;
}
