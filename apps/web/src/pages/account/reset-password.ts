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

function renderUnusable({ texts: { account } }: PageContext, state: 'invalid' | 'expired' | 'used'): Page {
  const reasons = { invalid: account.resetInvalid, expired: account.resetExpired, used: account.resetUsed };
  return {
    status: 410,
    title: account.linkUnusable,
    subtitle: reasons[state],
    body: html`<p class="apart"><a class="button primary wide" href="/forgot-password">${account.sendAnotherLink}</a></p>
<p class="fine apart"><a href="/sign-in">${account.backToSignIn}</a></p>`,
  };
}

const renderReset = ({ csrfField, texts }: PageContext, errors: FormErrors): Page => ({
  title: texts.account.resetPassword,
  subtitle: texts.account.resetEndsSessions,
  body: html`<form class="gap" method="post">${csrfField}
${renderFormError(errors, texts)}
${renderInput({
  name: 'newPassword',
  label: texts.account.newPassword,
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: texts.account.passwordRules,
  errors,
})}
<button class="primary wide">${texts.account.changePassword}</button>
</form>`,
});

const getToken = ({ request }: PageContext) => (request.params as { token: string }).token;

export async function showReset(context: PageContext): Promise<Page> {
  const { state } = unwrap(await context.actions.findReset(context.client, { token: getToken(context) }));
  return state === 'open' ? renderReset(context, NO_ERRORS) : renderUnusable(context, state);
}

export async function resetPassword(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, request } = context;
  const newPassword = readForm(request).text('newPassword');
  const result = await actions.resetPassword(client, { token: getToken(context), newPassword });
  if (!result.success)
    return { ...renderReset(context, toFormErrors(result, context.texts)), status: toStatus(result) };
  const { state } = result.data;
  if (state !== 'changed') return renderUnusable(context, state);
  return redirect('/sign-in', context.texts.account.passwordChanged);
}
