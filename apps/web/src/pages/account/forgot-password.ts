import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Page, PageContext } from '../../page.ts';

const renderForgotPassword = ({ csrfField, texts }: PageContext, email: string, errors: FormErrors): Page => ({
  title: texts.account.resetPassword,
  subtitle: texts.account.resetHint,
  body: html`<form class="gap" method="post" action="/forgot-password">${csrfField}
${renderFormError(errors, texts)}
${renderInput({ name: 'email', label: texts.account.email, type: 'email', value: email, autocomplete: 'username', required: true, errors })}
<button class="primary wide">${texts.account.sendLink}</button>
</form>
<p class="fine apart"><a href="/sign-in">${texts.account.backToSignIn}</a></p>`,
});

export const showForgotPassword = (context: PageContext): Page => renderForgotPassword(context, '', NO_ERRORS);

/** Says the same whether or not the address has an account. */
export async function requestReset(context: PageContext): Promise<Page> {
  const { actions, client, request, texts } = context;
  const email = readForm(request).text('email').trim();
  const result = await actions.requestReset(client, { email });
  if (!result.success)
    return { ...renderForgotPassword(context, email, toFormErrors(result, context.texts)), status: toStatus(result) };
  return {
    title: texts.account.checkEmail,
    subtitle: html`${texts.account.resetSent(html`<b>${email}</b>`)}`,
    body: html`<p class="apart">${texts.account.resetNotFound((text) => html`<a href="/forgot-password">${text}</a>`)}</p>
<p class="fine apart"><a href="/sign-in">${texts.account.backToSignIn}</a></p>`,
  };
}
