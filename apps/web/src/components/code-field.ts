import type { Texts } from '@carillon/texts';
import { type Html, html } from '../html.ts';
import type { Form } from '../http/forms.ts';
import { type FormErrors, renderInput } from './fields.ts';

/** A field for a code of an authenticator app or a recovery code. */
export const renderCodeField = ({ secondFactor }: Texts, errors: FormErrors): Html =>
  renderInput({
    name: 'code',
    label: secondFactor.code,
    hint: secondFactor.codeHint,
    autocomplete: 'one-time-code',
    required: true,
    attributes: html`spellcheck="false" autocapitalize="none" maxlength="100"`,
    errors,
  });

/** An app's codes are six digits; anything else is meant as a recovery code. */
export function readCode(form: Form): { code: string } | { recoveryCode: string } {
  const code = form.text('code').trim();
  return /^[\d\s]{0,9}$/.test(code) ? { code: code || '0' } : { recoveryCode: code };
}
