import type { RegisterInput } from '@carillon/contract/accounts/auth';
import type { Texts } from '@carillon/texts';
import { type FormErrors, renderInput } from '../../components/fields.ts';
import { renderTimeZoneField } from '../../components/time-zones.ts';
import { type Html, html } from '../../html.ts';
import type { Form } from '../../http/forms.ts';

/** What was typed; the password is never shown again. */
export interface AccountValues {
  name: string;
  email: string;
  timezone: string | null;
}

export const EMPTY_ACCOUNT: AccountValues = { name: '', email: '', timezone: null };

/** The fields of a new account. */
export const renderAccountFields = (
  { name, email, timezone }: AccountValues,
  errors: FormErrors,
  texts: Texts,
): Html => html`
${renderInput({ name: 'name', label: texts.account.name, value: name, autocomplete: 'name', required: true, errors })}
${renderInput({ name: 'email', label: texts.account.email, type: 'email', value: email, autocomplete: 'username', required: true, errors })}
${renderInput({
  name: 'password',
  label: texts.account.password,
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: texts.account.passwordRules,
  errors,
})}
${renderTimeZoneField({ value: timezone, errors, texts, hint: texts.account.timeZoneHint })}`;

export function readAccount(form: Form): { values: AccountValues; input: RegisterInput } {
  const timezone = form.optional('timezone') ?? null;
  const values = { name: form.text('name').trim(), email: form.text('email').trim(), timezone };
  const { name, email } = values;
  return { values, input: { name, email, password: form.text('password'), ...(timezone !== null && { timezone }) } };
}
