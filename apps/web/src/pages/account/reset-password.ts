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
import { type Page, type PageContext, type Redirect, redirect, unwrap } from '../../page.ts';
import { PASSWORD_RULES } from './new-account.ts';

const WHY = {
  invalid: 'This link is not complete, or was never sent.',
  expired: 'This link is older than an hour.',
  used: 'This link was used already, or a newer one was sent.',
};

const renderUnusable = (state: keyof typeof WHY): Page => ({
  status: 410,
  title: 'This link does not work',
  subtitle: WHY[state],
  body: html`<p class="apart"><a class="button primary wide" href="/forgot-password">Send another link</a></p>
<p class="fine apart"><a href="/sign-in">Back to the sign-in</a></p>`,
});

const renderReset = ({ csrfField }: PageContext, errors: FormErrors): Page => ({
  title: 'Choose a new password',
  subtitle: 'This ends all sessions of your account.',
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

const getToken = ({ request }: PageContext) => (request.params as { token: string }).token;

export async function showReset(context: PageContext): Promise<Page> {
  const { state } = unwrap(await context.actions.findReset(context.client, { token: getToken(context) }));
  return state === 'open' ? renderReset(context, NO_ERRORS) : renderUnusable(state);
}

export async function resetPassword(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, request } = context;
  const newPassword = readForm(request).text('newPassword');
  const result = await actions.resetPassword(client, { token: getToken(context), newPassword });
  if (!result.success) return { ...renderReset(context, toFormErrors(result)), status: toStatus(result) };
  const { state } = result.data;
  if (state !== 'changed') return renderUnusable(state);
  return redirect('/sign-in', 'Your password is changed. Sign in with the new one.');
}
