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

const renderForm = ({ csrfField, viewer, texts }: UserPageContext, next: string, errors: FormErrors): Page => ({
  title: texts.admin.confirm,
  breadcrumb: { href: '/admin', text: texts.admin.title },
  subtitle: texts.admin.confirmText,
  body: html`<form class="panel gap narrow" method="post" action="/admin/confirm">${csrfField}
<input type="hidden" name="next" value="${next}">
<input type="text" name="username" value="${viewer.email}" autocomplete="username" hidden>
${renderFormError({ ...errors, fields: {} }, texts)}
${renderInput({
  name: 'currentPassword',
  label: texts.account.password,
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  errors,
})}
<div class="do"><button class="primary">${texts.admin.confirmButton}</button><a class="button quiet" href="${next}">${texts.forms.cancel}</a></div>
</form>`,
});

const renderWithoutPassword = ({ csrfField, texts }: UserPageContext): Page => ({
  title: texts.admin.confirm,
  breadcrumb: { href: '/admin', text: texts.admin.title },
  body: html`<div class="panel gap narrow"><p>${texts.admin.noPassword}</p>
<form method="post" action="/sign-out">${csrfField}<button class="primary">${texts.navigation.signOut}</button></form></div>`,
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
  if (result.success) return redirect(next, context.texts.admin.confirmed);
  return { ...renderForm(context, next, toFormErrors(result, context.texts)), status: toStatus(result) };
}

const toAdminPath = (next: unknown): string => {
  const path = toOwnPath(next);
  return path === '/' ? '/admin' : path;
};
