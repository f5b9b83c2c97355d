import type { WebActionData } from '../../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../../components/fields.ts';
import { countWords } from '../../../components/format.ts';
import { html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { askToConfirm, needsConfirmation, readIdOf } from '../requests.ts';
import { endOwnAccess } from './user.ts';

type Account = WebActionData<'getAccount'>;

async function readAccount(context: UserPageContext): Promise<Account> {
  return unwrap(await context.actions.getAccount(context.session, { id: readIdOf(context) }));
}

export const showDeactivateUser = async (context: UserPageContext): Promise<Page> =>
  renderDeactivate(context, await readAccount(context), NO_ERRORS);

const renderDeactivate = ({ csrfField, texts }: UserPageContext, account: Account, errors: FormErrors): Page => ({
  title: `Deactivate ${account.name}`,
  breadcrumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/deactivate">${csrfField}
${renderFormError(errors, texts)}
<p><b>${account.email}</b> is signed out everywhere and cannot sign in.</p>
<p>Its ${countWords(account.stats.activeTasks, 'active task')} stop: waiting runs are dropped, runs under way finish. All data stays, and the account can be reactivated.</p>
<div class="do"><button class="danger">Deactivate</button><a class="button quiet" href="/admin/users/${account.id}">Cancel</a></div>
</form>`,
});

export async function deactivateUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readIdOf(context);
  const result = await context.actions.changeAccount(context.session, { id, isActive: false });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}/deactivate`);
  if (!result.success) {
    const page = renderDeactivate(context, await readAccount(context), toFormErrors(result, context.texts));
    return { ...page, status: toStatus(result) };
  }
  if (id === context.viewer.id) return endOwnAccess(context, 'Your account is deactivated.');
  return redirect(`/admin/users/${id}`, 'The account is deactivated.');
}

export const showDeleteUser = async (context: UserPageContext): Promise<Page> =>
  renderDelete(context, await readAccount(context), '', NO_ERRORS);

const renderDelete = (
  { csrfField, texts }: UserPageContext,
  account: Account,
  address: string,
  errors: FormErrors,
): Page => ({
  title: `Delete ${account.name}`,
  breadcrumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/delete">${csrfField}
${renderFormError(errors, texts)}
<p>The account is deleted with ${countWords(account.stats.totalTasks, 'task')}, ${countWords(account.stats.totalExecutions, 'run')}, its files, webhooks and keys. Runs under way are stopped. This cannot be undone; the audit log keeps an entry.</p>
<p>To continue, type the e-mail address of the account: <b>${account.email}</b></p>
${renderInput({ name: 'email', label: 'E-mail address', value: address, autocomplete: 'off', required: true, errors, attributes: html`spellcheck="false" autocapitalize="none"` })}
<div class="do"><button class="danger">Delete account</button><a class="button quiet" href="/admin/users/${account.id}">Cancel</a></div>
</form>`,
});

export async function deleteUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readIdOf(context);
  const email = readForm(context.request).text('email').trim();
  const result = await context.actions.removeAccount(context.session, { id, email });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}/delete`);
  if (!result.success) {
    const page = renderDelete(context, await readAccount(context), email, toFormErrors(result, context.texts));
    return { ...page, status: toStatus(result) };
  }
  if (id === context.viewer.id) return endOwnAccess(context, 'Your account is deleted.');
  return redirect('/admin/users', 'The account is deleted.');
}
