import { type Page, type Redirect, redirect } from '../../answer.ts';
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
import { unwrap, type Visit } from '../../visit.ts';
import { PASSWORD_RULES } from './new-account.ts';

const WHY = {
  invalid: 'This link is not complete, or was never sent.',
  expired: 'This link is older than an hour.',
  used: 'This link was used already, or a newer one was sent.',
};

const renderUnusable = (state: keyof typeof WHY): Page => ({
  status: 410,
  title: 'This link does not work',
  lead: WHY[state],
  body: html`<p class="apart"><a class="button primary wide" href="/forgot-password">Send another link</a></p>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
});

const renderReset = ({ csrfField }: Visit, errors: FormErrors): Page => ({
  title: 'Choose a new password',
  lead: 'This ends all sessions of your account.',
  body: html`<form class="gap" method="post">${csrfField}
${renderFormError(errors)}
${renderInput({
  name: 'newPassword',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: PASSWORD_RULES,
  errors,
})}
<button class="primary wide">Change password</button>
</form>`,
});

const getToken = ({ request }: Visit) => (request.params as { token: string }).token;

export async function showReset(visit: Visit): Promise<Page> {
  const { state } = unwrap(await visit.actions.findReset(visit.client, { token: getToken(visit) }));
  return state === 'open' ? renderReset(visit, NO_ERRORS) : renderUnusable(state);
}

export async function resetPassword(visit: Visit): Promise<Page | Redirect> {
  const { actions, client, request } = visit;
  const newPassword = readForm(request).text('newPassword');
  const result = await actions.resetPassword(client, { token: getToken(visit), newPassword });
  if (!result.success) return { ...renderReset(visit, toFormErrors(result)), status: toStatus(result) };
  const { state } = result.data;
  if (state !== 'changed') return renderUnusable(state);
  return redirect('/sign-in', 'Your password is changed. Sign in with the new one.');
}
