import { compileValidator } from '@carillon/contract';
import { RegisterInput } from '@carillon/contract/accounts/auth';
import { type Page, type Redirect, toOwnPath } from '../../answer.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { buildAddress } from '../../components/tables.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import type { Visit } from '../../visit.ts';
import { NOTHING_TYPED, readAccount, renderAccountFields, type TypedAccount } from './new-account.ts';

const validate = compileValidator(RegisterInput);

interface Typed extends TypedAccount {
  next: string;
}

function renderRegister({ csrfField }: Visit, { next, ...account }: Typed, errors: FormErrors): Page {
  const signIn = buildAddress('/sign-in', { next: next === '/' ? undefined : next });
  return {
    title: 'Create an account',
    body: html`<form class="gap" method="post" action="/register">${csrfField}
<input type="hidden" name="next" value="${next}">
${renderFormError(errors)}
${renderAccountFields(account, errors)}
<button class="primary wide">Create account</button>
</form>
<p class="fine apart">Have an account? <a href="${signIn}">Sign in</a></p>`,
  };
}

export const showRegister = (visit: Visit): Page =>
  renderRegister(visit, { ...NOTHING_TYPED, next: toOwnPath(readQuery(visit.request).next) }, NO_ERRORS);

export async function register(visit: Visit): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = visit;
  const form = readForm(request);
  const next = toOwnPath(form.text('next'));
  const { typed, input } = readAccount(form);
  // A client may register three times an hour: mistakes do not count.
  const checked = validate(input);
  if (!checked.ok) {
    return { ...renderRegister(visit, { ...typed, next }, { fields: checked.details, form: null }), status: 422 };
  }
  const result = await actions.signUp(client, input);
  if (result.success) return { to: next, cookies: [dashboard.serializeSession(result.data.session)] };
  const errors =
    result.code === 'CONFLICT'
      ? { form: null, fields: { email: ['has an account already: sign in, or ask for a new password'] } }
      : toFormErrors(result);
  return { ...renderRegister(visit, { ...typed, next }, errors), status: toStatus(result) };
}
