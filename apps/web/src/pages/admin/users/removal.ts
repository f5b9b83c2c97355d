import type { WebActionData } from '../../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { readId } from '../../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { askToConfirm, needsConfirmation } from '../requests.ts';
import { endOwnAccess } from './user.ts';

type Account = WebActionData<'getAccount'>;

async function readAccount(context: UserPageContext): Promise<Account> {
  return unwrap(await context.actions.getAccount(context.session, { id: readId(context) }));
}

export const showDeactivateUser = async (context: UserPageContext): Promise<Page> =>
  renderDeactivate(context, await readAccount(context), NO_ERRORS);

const renderDeactivate = ({ csrfField, texts }: UserPageContext, account: Account, errors: FormErrors): Page => ({
  title: texts.accounts.deactivateTitle(account.name),
  breadcrumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/deactivate">${csrfField}
${renderFormError(errors, texts)}
<p>${texts.accounts.deactivateText(html`<b>${account.email}</b>`)}</p>
<p>${texts.accounts.deactivateTasks(account.stats.activeTasks)}</p>
<div class="do"><button class="danger">${texts.accounts.deactivate}</button><a class="button quiet" href="/admin/users/${account.id}">${texts.forms.cancel}</a></div>
</form>`,
});

export async function deactivateUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const result = await context.actions.changeAccount(context.session, { id, isActive: false });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}/deactivate`);
  if (!result.success) {
    const page = renderDeactivate(context, await readAccount(context), toFormErrors(result, context.texts));
    return { ...page, status: toStatus(result) };
  }
  if (id === context.viewer.id) return endOwnAccess(context, context.texts.accounts.ownDeactivated);
  return redirect(`/admin/users/${id}`, context.texts.accounts.deactivated);
}

export const showDeleteUser = async (context: UserPageContext): Promise<Page> =>
  renderDelete(context, await readAccount(context), '', NO_ERRORS);

const renderDelete = (
  { csrfField, texts }: UserPageContext,
  account: Account,
  address: string,
  errors: FormErrors,
): Page => ({
  title: texts.accounts.deleteTitle(account.name),
  breadcrumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/delete">${csrfField}
${renderFormError(errors, texts)}
<p>${texts.accounts.deleteText(account.stats.totalTasks, account.stats.totalExecutions)}</p>
<p>${texts.accounts.deleteConfirm(html`<b>${account.email}</b>`)}</p>
${renderInput({ name: 'email', label: texts.accounts.email, value: address, autocomplete: 'off', required: true, errors, attributes: html`spellcheck="false" autocapitalize="none"` })}
<div class="do"><button class="danger">${texts.accounts.deleteButton}</button><a class="button quiet" href="/admin/users/${account.id}">${texts.forms.cancel}</a></div>
</form>`,
});

export async function deleteUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const email = readForm(context.request).text('email').trim();
  const result = await context.actions.removeAccount(context.session, { id, email });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}/delete`);
  if (!result.success) {
    const page = renderDelete(context, await readAccount(context), email, toFormErrors(result, context.texts));
    return { ...page, status: toStatus(result) };
  }
  if (id === context.viewer.id) return endOwnAccess(context, context.texts.accounts.ownDeleted);
  return redirect('/admin/users', context.texts.accounts.deleted);
}
