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

const renderForgotPassword = ({ csrfField }: PageContext, email: string, errors: FormErrors): Page => ({
  title: 'Choose a new password',
  subtitle: 'A link to do so is sent to the address of your account.',
  body: html`<form class="gap" method="post" action="/forgot-password">${csrfField}
${renderFormError(errors)}
${renderInput({ name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username', required: true, errors })}
<button class="primary wide">Send the link</button>
</form>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
});

export const showForgotPassword = (context: PageContext): Page => renderForgotPassword(context, '', NO_ERRORS);

/** Says the same whether or not the address has an account. */
export async function requestReset(context: PageContext): Promise<Page> {
  const { actions, client, request } = context;
  const email = readForm(request).text('email').trim();
  const result = await actions.requestReset(client, { email });
  if (!result.success)
    return { ...renderForgotPassword(context, email, toFormErrors(result)), status: toStatus(result) };
  return {
    title: 'Look into your mailbox',
    subtitle: html`If <b>${email}</b> has an account, a link to choose a new password is on its way. It works once, for an hour.`,
    body: html`<p class="apart">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/forgot-password">try again</a>.</p>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
  };
}
