import type { WebActionData } from '../../../actions.ts';
import { type Page, type Redirect, redirect } from '../../../answer.ts';
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
import { type SignedInVisit, unwrap } from '../../../visit.ts';
import { askToConfirm, needsConfirmation, readIdOf } from '../requests.ts';
import { endOwnAccess } from './user.ts';

type Account = WebActionData<'getAccount'>;

async function readAccount(visit: SignedInVisit): Promise<Account> {
  return unwrap(await visit.actions.getAccount(visit.session, { id: readIdOf(visit) }));
}

export const showDeactivateUser = async (visit: SignedInVisit): Promise<Page> =>
  renderDeactivate(visit, await readAccount(visit), NO_ERRORS);

const renderDeactivate = ({ csrfField }: SignedInVisit, account: Account, errors: FormErrors): Page => ({
  title: `Deactivate ${account.name}`,
  crumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/deactivate">${csrfField}
${renderFormError(errors)}
<p><b>${account.email}</b> is signed out everywhere and cannot sign in.</p>
<p>Its ${countWords(account.stats.activeTasks, 'active task')} stop: waiting runs are dropped, runs under way finish. All data stays, and the account can be reactivated.</p>
<div class="do"><button class="danger">Deactivate</button><a class="button quiet" href="/admin/users/${account.id}">Cancel</a></div>
</form>`,
});

export async function deactivateUser(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const result = await visit.actions.changeAccount(visit.session, { id, isActive: false });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/users/${id}/deactivate`);
  if (!result.success) {
    const page = renderDeactivate(visit, await readAccount(visit), toFormErrors(result));
    return { ...page, status: toStatus(result) };
  }
  if (id === visit.viewer.id) return endOwnAccess(visit, 'Your account is deactivated.');
  return redirect(`/admin/users/${id}`, 'The account is deactivated.');
}

export const showDeleteUser = async (visit: SignedInVisit): Promise<Page> =>
  renderDelete(visit, await readAccount(visit), '', NO_ERRORS);

const renderDelete = ({ csrfField }: SignedInVisit, account: Account, typed: string, errors: FormErrors): Page => ({
  title: `Delete ${account.name}`,
  crumb: { href: `/admin/users/${account.id}`, text: account.name },
  body: html`<form class="panel gap narrow" method="post" action="/admin/users/${account.id}/delete">${csrfField}
${renderFormError(errors)}
<p>The account is deleted with ${countWords(account.stats.totalTasks, 'task')}, ${countWords(account.stats.totalExecutions, 'run')}, its files, webhooks and keys. Runs under way are stopped. This cannot be undone; the audit log keeps an entry.</p>
<p>To continue, type the e-mail address of the account: <b>${account.email}</b></p>
${renderInput({ name: 'email', label: 'E-mail address', value: typed, autocomplete: 'off', required: true, errors, attributes: html`spellcheck="false" autocapitalize="none"` })}
<div class="do"><button class="danger">Delete account</button><a class="button quiet" href="/admin/users/${account.id}">Cancel</a></div>
</form>`,
});

export async function deleteUser(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const email = readForm(visit.request).text('email').trim();
  const result = await visit.actions.removeAccount(visit.session, { id, email });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/users/${id}/delete`);
  if (!result.success) {
    const page = renderDelete(visit, await readAccount(visit), email, toFormErrors(result));
    return { ...page, status: toStatus(result) };
  }
  if (id === visit.viewer.id) return endOwnAccess(visit, 'Your account is deleted.');
  return redirect('/admin/users', 'The account is deleted.');
}
