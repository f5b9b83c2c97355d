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
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

async function renderDeletion(context: UserPageContext, email: string, errors: FormErrors): Promise<Page> {
  const { hasPassword } = unwrap(await context.actions.getSettings(context.session, {}));
  return {
    title: 'Delete account',
    breadcrumb: { href: '/settings', text: 'Settings' },
    subtitle: 'Deletes your tasks, runs, files, webhooks and keys, at once and for good. They cannot be restored.',
    body: html`<form class="panel gap narrow" method="post" action="/settings/delete">${context.csrfField}
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'email',
  label: `Type ${context.viewer.email} to confirm`,
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

export const showDeletion = (context: UserPageContext): Promise<Page> => renderDeletion(context, '', NO_ERRORS);

const OLD_SESSION: FormErrors = {
  fields: {},
  form: 'This session is older than 15 minutes. Sign out, sign in again with your provider, then delete the account.',
};

export async function deleteAccount(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, dashboard, request, session, viewer } = context;
  const form = readForm(request);
  const email = form.text('email').trim();
  if (email.toLowerCase() !== viewer.email) {
    const errors = { form: null, fields: { email: ['is not the address of this account'] } };
    return { ...(await renderDeletion(context, email, errors)), status: 422 };
  }
  const currentPassword = form.optional('currentPassword');
  const confirmed = { email, ...(currentPassword !== undefined && { currentPassword }) };
  const result = await actions.deleteAccount(session, confirmed);
  if (result.success) {
    const cookies = [dashboard.serializeSession(null)];
    return { ...redirect('/sign-in', 'Your account and all its data are deleted.'), cookies };
  }
  const errors = result.code === 'INSUFFICIENT_PERMISSIONS' ? OLD_SESSION : toFormErrors(result, context.texts);
  return { ...(await renderDeletion(context, email, errors)), status: toStatus(result) };
}
