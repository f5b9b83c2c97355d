import type { Page } from '../../answer.ts';
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
import type { Visit } from '../../visit.ts';

const renderForgotPassword = ({ csrfField }: Visit, email: string, errors: FormErrors): Page => ({
  title: 'Choose a new password',
  lead: 'A link to do so is sent to the address of your account.',
  body: html`<form class="gap" method="post" action="/forgot-password">${csrfField}
${renderFormError(errors)}
${renderInput({ name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username', required: true, errors })}
<button class="primary wide">Send the link</button>
</form>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
});

export const showForgotPassword = (visit: Visit): Page => renderForgotPassword(visit, '', NO_ERRORS);

/** Says the same whether or not the address has an account. */
export async function requestReset(visit: Visit): Promise<Page> {
  const { actions, client, request } = visit;
  const email = readForm(request).text('email').trim();
  const result = await actions.requestReset(client, { email });
  if (!result.success) return { ...renderForgotPassword(visit, email, toFormErrors(result)), status: toStatus(result) };
  return {
    title: 'Look into your mailbox',
    lead: html`If <b>${email}</b> has an account, a link to choose a new password is on its way. It works once, for an hour.`,
    body: html`<p class="apart">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/forgot-password">try again</a>.</p>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
  };
}
