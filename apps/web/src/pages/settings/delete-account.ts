import { type Page, type Redirect, redirect } from '../../answer.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';

async function renderDeletion(visit: SignedInVisit, email: string, errors: FormErrors): Promise<Page> {
  const { hasPassword } = unwrap(await visit.actions.getSettings(visit.session, {}));
  return {
    title: 'Delete account',
    crumb: { href: '/settings', text: 'Settings' },
    lead: 'Deletes your tasks, runs, files, webhooks and keys, at once and for good. They cannot be restored.',
    body: html`<form class="panel gap narrow" method="post" action="/settings/delete">${visit.csrfField}
${renderFormError(errors)}
${renderInput({
  name: 'email',
  label: `Type ${visit.viewer.email} to confirm`,
  value: email,
  autocomplete: 'off',
  required: true,
  errors,
})}
${
  hasPassword
    ? renderInput({
        name: 'currentPassword',
        label: 'Your password',
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        errors,
      })
    : EMPTY
}
<div class="do"><button class="danger">Delete account</button><a class="button quiet" href="/settings">Cancel</a></div>
</form>`,
  };
}

export const showDeletion = (visit: SignedInVisit): Promise<Page> => renderDeletion(visit, '', NO_ERRORS);

const OLD_SESSION: FormErrors = {
  fields: {},
  form: 'This session is older than 15 minutes. Sign out, sign in again with your provider, then delete the account.',
};

export async function deleteAccount(visit: SignedInVisit): Promise<Page | Redirect> {
  const { actions, dashboard, request, session, viewer } = visit;
  const form = readForm(request);
  const email = form.text('email').trim();
  if (email.toLowerCase() !== viewer.email) {
    const errors = { form: null, fields: { email: ['is not the address of this account'] } };
    return { ...(await renderDeletion(visit, email, errors)), status: 422 };
  }
  const currentPassword = form.optional('currentPassword');
  const confirmed = { email, ...(currentPassword !== undefined && { currentPassword }) };
  const result = await actions.deleteAccount(session, confirmed);
  if (result.success) {
    const cookies = [dashboard.serializeSession(null)];
    return { ...redirect('/sign-in', 'Your account and all its data are deleted.'), cookies };
  }
  const errors = result.code === 'INSUFFICIENT_PERMISSIONS' ? OLD_SESSION : toFormErrors(result);
  return { ...(await renderDeletion(visit, email, errors)), status: toStatus(result) };
}
