import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, toOwnPath, type UserPageContext, unwrap } from '../../page.ts';

const CRUMB = { href: '/admin', text: 'Administration' };
const TITLE = 'Confirm that it is you';

const renderForm = ({ csrfField, viewer, texts }: UserPageContext, next: string, errors: FormErrors): Page => ({
  title: TITLE,
  breadcrumb: CRUMB,
  subtitle: 'Changes by an administrator need the password, or a sign-in, of the last 15 minutes.',
  body: html`<form class="panel gap narrow" method="post" action="/admin/confirm">${csrfField}
<input type="hidden" name="next" value="${next}">
<input type="text" name="username" value="${viewer.email}" autocomplete="username" hidden>
${renderFormError({ ...errors, fields: {} }, texts)}
${renderInput({
  name: 'currentPassword',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  errors,
})}
<div class="do"><button class="primary">Confirm</button><a class="button quiet" href="${next}">Cancel</a></div>
</form>`,
});

const renderWithoutPassword = ({ csrfField }: UserPageContext): Page => ({
  title: TITLE,
  breadcrumb: CRUMB,
  body: html`<div class="panel gap narrow"><p>This account has no password, because it signs in with a provider. Sign out, and sign in again with the provider: changes are then possible for 15 minutes.</p>
<form method="post" action="/sign-out">${csrfField}<button class="primary">Sign out</button></form></div>`,
});

export async function showConfirm(context: UserPageContext): Promise<Page> {
  const { hasPassword } = unwrap(await context.actions.getConfirmation(context.session, {}));
  if (!hasPassword) return renderWithoutPassword(context);
  return renderForm(context, toAdminPath(readQuery(context.request).next), NO_ERRORS);
}

export async function confirm(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request } = context;
  const form = readForm(request);
  const next = toAdminPath(form.text('next'));
  const result = await actions.confirmSession(session, { currentPassword: form.text('currentPassword') });
  if (result.success) return redirect(next, 'Confirmed. You can make changes for 15 minutes.');
  return { ...renderForm(context, next, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const toAdminPath = (next: unknown): string => {
  const path = toOwnPath(next);
  return path === '/' ? '/admin' : path;
};
