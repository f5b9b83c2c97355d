import { randomUUID } from 'node:crypto';
import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import { DAY_MS } from '@carillon/contract/primitives';
import { isUuid } from '@carillon/contract/validation/formats';
import { renderCopyButton, toFormErrors, toStatus } from '../../../components/fields.ts';
import { html } from '../../../html.ts';
import { ASSET_URLS } from '../../../http/assets.ts';
import { readForm } from '../../../http/forms.ts';
import type { Page, UserPageContext } from '../../../page.ts';
import { renderAssistantsWith } from './assistants.ts';
import { EXPIRIES, type Key, type KeyValues, renderKeys } from './list.ts';
import { isPreset, PRESETS } from './presets.ts';

/** Answers with the page of the secret, because an address or a cookie would keep it. */
export async function createKey(context: UserPageContext): Promise<Page> {
  const { actions, now, request, session, texts } = context;
  const form = readForm(request);
  const id = form.text('id');
  const preset = isPreset(form.text('preset')) ? form.text('preset') : 'custom';
  const values: KeyValues = {
    id: isUuid(id) ? id : randomUUID(),
    name: form.text('name').trim(),
    preset,
    scopes: isPreset(preset) ? PRESETS[preset] : form.list('scopes'),
    expiry: EXPIRIES.find((value) => value === form.text('expiry')) ?? '90',
  };
  const days = values.expiry === 'never' ? null : Number(values.expiry);
  const currentPassword = form.optional('currentPassword');
  const result = await actions.createKey(session, {
    ...(currentPassword !== undefined && { currentPassword }),
    id: values.id,
    name: values.name,
    scopes: [...values.scopes] as ApiKeyScope[],
    expiresAt: days === null ? null : new Date(now.getTime() + days * DAY_MS).toISOString(),
  });
  if (result.success) return renderSecret(context, result.data);
  // The page was loaded again, or its form sent twice.
  if (result.code === 'CONFLICT') {
    const errors = { fields: {}, form: texts.keys.alreadyCreated };
    return { ...(await renderKeys(context, { ...values, id: randomUUID(), name: '' }, errors)), status: 409 };
  }
  const errors = toFormErrors(result, texts);
  const fields = errors.fields.scopes ? { ...errors.fields, scopes: [texts.keys.chooseScopes] } : errors.fields;
  return { ...(await renderKeys(context, values, { ...errors, fields })), status: toStatus(result) };
}

const renderSecret = (context: UserPageContext, { key, secret }: { key: Key; secret: string }): Page => ({
  title: context.texts.keys.createdTitle,
  breadcrumb: { href: '/settings/keys', text: context.texts.keys.title },
  subtitle: html`${context.texts.keys.createdText(html`<b>${key.name}</b>`)}`,
  scripts: [ASSET_URLS.copy],
  body: html`<div class="panel gap"><div class="copied-code"><p class="secret" id="secret"><code>${secret}</code></p>${renderCopyButton('secret', context.texts)}</div>
<p>${context.texts.keys.bearer}</p>
<div class="copied-code"><pre id="curl"><code>curl ${context.dashboard.appUrl}/api/tasks -H 'Authorization: Bearer ${secret}'</code></pre>${renderCopyButton('curl', context.texts)}</div></div>
${renderAssistantsWith(context, secret, key.scopes)}
<p><a class="button primary" href="/settings/keys">${context.texts.forms.copied}</a></p>`,
});
