import { isUuid } from '@carillon/contract/primitives';
import { type Page, type Redirect, redirect } from '../../../answer.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { html } from '../../../html.ts';
import { NOT_FOUND } from '../../../http/errors.ts';
import { readForm } from '../../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../../visit.ts';
import { type Key, listKeys } from './list.ts';

const CRUMB = { href: '/settings/keys', text: 'API keys' };
const LIST = '/settings/keys';

const getId = ({ request }: SignedInVisit) => (request.params as { id: string }).id;

/** Shows a page of the key in the address. */
async function showKey(visit: SignedInVisit, render: (key: Key) => Page): Promise<Page> {
  const id = getId(visit).toLowerCase();
  const key = (await listKeys(visit)).find((one) => one.id === id);
  return key ? render(key) : NOT_FOUND;
}

const renderName = ({ csrfField }: SignedInVisit, id: string, name: string, errors: FormErrors): Page => ({
  title: 'Rename key',
  crumb: CRUMB,
  body: html`<form class="panel gap narrow" method="post" action="/settings/keys/${id}">${csrfField}
${renderFormError(errors)}
${renderInput({ name: 'name', label: 'Name', value: name, autocomplete: 'off', required: true, errors })}
<div class="do"><button class="primary">Rename key</button><a class="button quiet" href="${LIST}">Cancel</a></div>
</form>`,
});

export const showKeyName = (visit: SignedInVisit): Promise<Page> =>
  showKey(visit, ({ id, name }) => renderName(visit, id, name, NO_ERRORS));

export async function renameKey(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = getId(visit);
  if (!isUuid(id)) return NOT_FOUND;
  const name = readForm(visit.request).text('name').trim();
  const result = await visit.actions.changeKey(visit.session, { id, name });
  if (result.success) return redirect(LIST, 'The key is renamed.');
  return { ...renderName(visit, id, name, toFormErrors(result)), status: toStatus(result) };
}

export const showKeyDeletion = (visit: SignedInVisit): Promise<Page> =>
  showKey(visit, ({ id, name, prefix }) => ({
    title: 'Delete key',
    crumb: CRUMB,
    lead: 'Programs that use it are refused from then on.',
    body: html`<form class="panel gap narrow" method="post" action="/settings/keys/${id}/delete">${visit.csrfField}
<p><b>${name}</b>, which starts with <code>${prefix}</code></p>
<div class="do"><button class="danger">Delete key</button><a class="button quiet" href="${LIST}">Cancel</a></div>
</form>`,
  }));

export async function deleteKey(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = getId(visit);
  if (!isUuid(id)) return NOT_FOUND;
  unwrap(await visit.actions.deleteKey(visit.session, { id }));
  return redirect(LIST, 'The key is deleted.');
}
