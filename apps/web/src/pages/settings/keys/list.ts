import { randomUUID } from 'node:crypto';
import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { renderRadios } from '../../../components/choices.ts';
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
import { ASSET_URLS } from '../../../http/assets.ts';
import { readQuery } from '../../../http/forms.ts';
import type { Page } from '../../../page.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import { renderConfirmation } from '../confirmation.ts';
import { renderSections } from '../sections.ts';
import { FOR_ASSISTANT, renderAssistants } from './assistants.ts';
import { findPreset, PRESET_NAMES } from './presets.ts';

export type Key = WebActionData<'listKeys'>['keys'][number];

export interface KeyValues {
  /** The key gets it, so that a form that is sent twice makes one key. */
  id: string;
  name: string;
  /** A preset, or `custom` for the single scopes. */
  preset: string;
  scopes: readonly string[];
  expiry: string;
}

/** More single permissions are folded. */
const MANY = 4;

/** An account has at most 25 keys. */
const ALL = { limit: 100 };

/** In days. */
export const EXPIRIES = ['30', '90', '365', 'never'] as const;

export const listKeys = async ({ actions, session }: UserPageContext): Promise<readonly Key[]> =>
  unwrap(await actions.listKeys(session, ALL)).keys;

/** A link may propose a key for an assistant. */
export function showKeys(context: UserPageContext): Promise<Page> {
  const isForAssistant = readQuery(context.request).for === FOR_ASSISTANT;
  const proposed = isForAssistant
    ? { name: context.texts.keys.assistant, preset: FOR_ASSISTANT }
    : { name: '', preset: 'read' };
  return renderKeys(context, { id: randomUUID(), scopes: [], expiry: '90', ...proposed }, NO_ERRORS);
}

export async function renderKeys(context: UserPageContext, values: KeyValues, errors: FormErrors): Promise<Page> {
  const { texts } = context;
  const keys = await listKeys(context);
  return {
    title: texts.keys.title,
    subtitle: texts.keys.subtitle,
    scripts: [ASSET_URLS.copy],
    body: html`${renderSections(texts, '/settings/keys')}
${renderList(context, keys)}
<section aria-labelledby="new-key"><div class="head"><h2 id="new-key">${texts.keys.newKey}</h2></div>${renderForm(context, values, errors)}</section>
${renderAssistants(context)}`,
  };
}

function renderList(context: UserPageContext, keys: readonly Key[]): Html {
  const texts = context.texts.keys;
  return keys.length === 0
    ? html`<div class="rows"><p class="empty">${texts.none}</p></div>`
    : renderTable(
        texts.caption,
        [
          { head: texts.name },
          { head: texts.permissions },
          { head: texts.lastUsed },
          { head: texts.expires },
          { head: html`<span class="vh">${context.texts.lists.actions}</span>` },
        ],
        keys.map((key) => renderKey(context, key)),
      );
}

function renderKey(
  context: UserPageContext,
  { id, name, prefix, scopes, createdAt, lastUsedAt, expiresAt }: Key,
): Html {
  const { keys: texts, forms } = context.texts;
  const preset = findPreset(scopes);
  const isExpired = expiresAt !== null && new Date(expiresAt) <= context.now;
  return renderRow(
    renderRowHead(
      html`<b>${name}</b><span class="sub"><code>${prefix}…</code> ${texts.created(renderMomentOn(createdAt, context))}</span>`,
    ),
    renderCell(preset ? texts.presets[preset].text : renderScopes(scopes, texts), { class: 'whole' }),
    renderCell(lastUsedAt === null ? texts.never : renderMomentWithDistance(lastUsedAt, context), {
      label: texts.lastUsed,
    }),
    renderCell(
      expiresAt === null
        ? texts.never
        : html`${isExpired && html`<b>${texts.expired}</b> `}${renderMomentWithDistance(expiresAt, context)}`,
      { label: texts.expires },
    ),
    renderCell(
      html`<a class="button" href="/settings/keys/${id}" aria-label="${texts.renameKey(name)}">${texts.rename}</a> <a class="button danger" href="/settings/keys/${id}/delete" aria-label="${texts.deleteKey(name)}">${forms.delete}</a>`,
      { class: 'num whole' },
    ),
  );
}

function renderScopes(scopes: readonly ApiKeyScope[], { scopes: names, countPermissions }: Texts['keys']): Html {
  const tags = html`${scopes.map((scope) => html`<span class="tag calm" title="${names[scope]}">${scope}</span> `)}`;
  if (scopes.length <= MANY) return tags;
  return html`<details><summary>${countPermissions(scopes.length)}</summary>${tags}</details>`;
}

function renderForm({ csrfField, viewer, texts }: UserPageContext, values: KeyValues, errors: FormErrors): Html {
  const { keys } = texts;
  const scopes = Object.keys(API_KEY_SCOPES) as ApiKeyScope[];
  const offered = scopes.filter((scope) => scope !== 'admin' || viewer.role === 'ADMIN');
  const choices = [...PRESET_NAMES, 'custom' as const].map((value) => ({ value, ...keys.presets[value] }));
  const expiries = EXPIRIES.map((value) => ({ value, text: keys.expiries[value] }));
  return html`<form class="panel gap key-form" method="post" action="/settings/keys">${csrfField}
<input type="hidden" name="id" value="${values.id}">
${renderFormError(errors, texts)}
<div class="narrow">${renderInput({ name: 'name', label: keys.name, value: values.name, autocomplete: 'off', required: true, hint: keys.nameHint, errors })}</div>
${renderRadios({ name: 'preset', legend: keys.permissions, choices, value: values.preset })}
<fieldset class="scopes"${errors.fields.scopes && raw(' aria-describedby="scopes-error"')}><legend class="vh">${keys.presets.custom.text}</legend>
${offered.map(
  (scope) =>
    html`<label class="check"><input type="checkbox" name="scopes" value="${scope}"${values.scopes.includes(scope) && raw(' checked')}><span>${keys.scopes[scope]}<span class="sub">${scope}</span></span></label>`,
)}
${renderFieldError('scopes', errors)}</fieldset>
<div class="narrow">${renderSelect({ name: 'expiry', label: keys.expires, options: expiries, value: values.expiry, errors })}</div>
${renderConfirmation(errors, texts)}
<div class="do"><button class="primary">${keys.createKey}</button></div>
</form>`;
}
