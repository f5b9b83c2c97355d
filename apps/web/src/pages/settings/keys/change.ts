import { isUuid } from '@carillon/contract/validation/formats';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { html } from '../../../html.ts';
import { renderNotFound } from '../../../http/errors.ts';
import { readForm } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { type Key, listKeys } from './list.ts';

const LIST = '/settings/keys';

const getId = ({ request }: UserPageContext) => (request.params as { id: string }).id;

/** Shows a page of the key in the address. */
async function showKey(context: UserPageContext, render: (key: Key) => Page): Promise<Page> {
  const id = getId(context).toLowerCase();
  const key = (await listKeys(context)).find((one) => one.id === id);
  return key ? render(key) : renderNotFound(context);
}

const renderName = ({ csrfField, texts }: UserPageContext, id: string, name: string, errors: FormErrors): Page => ({
  title: texts.keys.renameTitle,
  breadcrumb: { href: LIST, text: texts.keys.title },
  body: html`<form class="panel gap narrow" method="post" action="/settings/keys/${id}">${csrfField}
${renderFormError(errors, texts)}
${renderInput({ name: 'name', label: texts.keys.name, value: name, autocomplete: 'off', required: true, errors })}
<div class="do"><button class="primary">${texts.keys.renameTitle}</button><a class="button quiet" href="${LIST}">${texts.forms.cancel}</a></div>
</form>`,
});

export const showKeyName = (context: UserPageContext): Promise<Page> =>
  showKey(context, ({ id, name }) => renderName(context, id, name, NO_ERRORS));

export async function renameKey(context: UserPageContext): Promise<Page | Redirect> {
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  const name = readForm(context.request).text('name').trim();
  const result = await context.actions.changeKey(context.session, { id, name });
  if (result.success) return redirect(LIST, context.texts.keys.renamed);
  return { ...renderName(context, id, name, toFormErrors(result, context.texts)), status: toStatus(result) };
}

export const showKeyDeletion = (context: UserPageContext): Promise<Page> =>
  showKey(context, ({ id, name, prefix }) => ({
    title: context.texts.keys.deleteTitle,
    breadcrumb: { href: LIST, text: context.texts.keys.title },
    subtitle: context.texts.keys.deleteText,
    body: html`<form class="panel gap narrow" method="post" action="/settings/keys/${id}/delete">${context.csrfField}
<p>${context.texts.keys.deleteName(html`<b>${name}</b>`, html`<code>${prefix}</code>`)}</p>
<div class="do"><button class="danger">${context.texts.keys.deleteTitle}</button><a class="button quiet" href="${LIST}">${context.texts.forms.cancel}</a></div>
</form>`,
  }));

export async function deleteKey(context: UserPageContext): Promise<Page | Redirect> {
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  unwrap(await context.actions.deleteKey(context.session, { id }));
  return redirect(LIST, context.texts.keys.deleted);
}
