import {
  type FormErrors,
  NO_ERRORS,
  renderCurrentPassword,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

async function renderDeletion(context: UserPageContext, email: string, errors: FormErrors): Promise<Page> {
  const { settings, forms } = context.texts;
  const { hasPassword } = unwrap(await context.actions.getSettings(context.session, {}));
  return {
    title: settings.deletion,
    breadcrumb: { href: '/settings/data', text: settings.title },
    subtitle: settings.deletionText,
    body: html`<form class="panel gap narrow" method="post" action="/settings/delete">${context.csrfField}
${renderFormError(errors, context.texts)}
${renderInput({
  name: 'email',
  label: settings.confirmDeletion(context.viewer.email),
  value: email,
  autocomplete: 'off',
  required: true,
  errors,
})}
${hasPassword && renderCurrentPassword(context.texts, errors)}
<div class="do"><button class="danger">${settings.deletion}</button><a class="button quiet" href="/settings/data">${forms.cancel}</a></div>
</form>`,
  };
}

export const showDeletion = (context: UserPageContext): Promise<Page> => renderDeletion(context, '', NO_ERRORS);

export async function deleteAccount(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, dashboard, request, session, viewer, texts } = context;
  const form = readForm(request);
  const email = form.text('email').trim();
  if (email.toLowerCase() !== viewer.email) {
    const errors = { form: null, fields: { email: [texts.settings.wrongEmail] } };
    return { ...(await renderDeletion(context, email, errors)), status: 422 };
  }
  const currentPassword = form.optional('currentPassword');
  const confirmed = { email, ...(currentPassword !== undefined && { currentPassword }) };
  const result = await actions.deleteAccount(session, confirmed);
  if (result.success) {
    const cookies = [dashboard.serializeSession(null)];
    return { ...redirect('/sign-in', texts.settings.accountDeleted), cookies };
  }
  const isOld = result.code === 'INSUFFICIENT_PERMISSIONS';
  const errors = isOld ? { fields: {}, form: texts.settings.oldSession } : toFormErrors(result, texts);
  return { ...(await renderDeletion(context, email, errors)), status: toStatus(result) };
}
