import { compileValidator } from '@carillon/contract';
import { RegisterInput } from '@carillon/contract/accounts/auth';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  toFormErrors,
  toStatus,
  translateFields,
} from '../../components/fields.ts';
import { buildAddress } from '../../components/tables.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import type { PageContext } from '../../page.ts';
import { type Page, type Redirect, toOwnPath } from '../../page.ts';
import { type AccountValues, EMPTY_ACCOUNT, readAccount, renderAccountFields } from './new-account.ts';

const validate = compileValidator(RegisterInput);

interface FormValues extends AccountValues {
  next: string;
}

function renderRegister({ csrfField, texts }: PageContext, { next, ...account }: FormValues, errors: FormErrors): Page {
  const signIn = buildAddress('/sign-in', { next: next === '/' ? undefined : next });
  return {
    title: texts.account.createAccount,
    body: html`<form class="gap" method="post" action="/register">${csrfField}
<input type="hidden" name="next" value="${next}">
${renderFormError(errors, texts)}
${renderAccountFields(account, errors, texts)}
<button class="primary wide">${texts.account.create}</button>
</form>
<p class="fine apart">${texts.account.haveAccount((text) => html`<a href="${signIn}">${text}</a>`)}</p>`,
  };
}

export const showRegister = (context: PageContext): Page =>
  renderRegister(context, { ...EMPTY_ACCOUNT, next: toOwnPath(readQuery(context.request).next) }, NO_ERRORS);

export async function register(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = context;
  const form = readForm(request);
  const next = toOwnPath(form.text('next'));
  const { values, input } = readAccount(form);
  // A client may register three times an hour: mistakes do not count.
  const checked = validate(input);
  if (!checked.ok) {
    return {
      ...renderRegister(
        context,
        { ...values, next },
        { fields: translateFields(checked.details, context.texts), form: null },
      ),
      status: 422,
    };
  }
  const result = await actions.signUp(client, input);
  if (result.success) return { to: next, cookies: [dashboard.serializeSession(result.data.session)] };
  const errors =
    result.code === 'CONFLICT'
      ? { form: null, fields: { email: [context.texts.account.emailTaken] } }
      : toFormErrors(result, context.texts);
  return { ...renderRegister(context, { ...values, next }, errors), status: toStatus(result) };
}
