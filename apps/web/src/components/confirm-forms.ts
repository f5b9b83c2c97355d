import type { WebActionData } from '../actions.ts';
import { EMPTY, type Html, html } from '../html.ts';
import { type Form, readForm } from '../http/forms.ts';
import type { UserPageContext } from '../page.ts';
import { readCode, renderCodeField } from './code-field.ts';
import { type FormErrors, renderCurrentPassword, renderFormError, toFormErrors } from './fields.ts';
import { readPasskey, renderPasskeyForm } from './passkey-form.ts';

type Confirmation = WebActionData<'getConfirmation'>;

interface ConfirmForms {
  /** The page with the forms. */
  path: string;
  /** Where the person goes on. */
  next: string;
  confirmation: Confirmation;
  /** Whether the password is enough for an account with a second factor. */
  takesPassword: boolean;
  errors: FormErrors;
}

/** The ways in which the account can confirm its session. */
export function renderConfirmForms(
  context: UserPageContext,
  { path, next, confirmation, takesPassword, errors }: ConfirmForms,
): Html {
  const { csrfField, viewer, texts } = context;
  const { secondFactor } = texts;
  const { factorKinds, hasPassword, options } = confirmation;
  const nextField = html`<input type="hidden" name="next" value="${next}">`;
  const buttons = html`<div class="do"><button class="primary">${secondFactor.confirm}</button><a class="button quiet" href="${next}">${texts.forms.cancel}</a></div>`;
  const withPassword = hasPassword && (takesPassword || factorKinds.length === 0);
  if (!withPassword && factorKinds.length === 0) {
    return html`<div class="panel gap narrow"><p>${texts.admin.noPassword}</p>
<form method="post" action="/sign-out">${csrfField}<button class="primary">${texts.navigation.signOut}</button></form></div>`;
  }
  return html`${
    withPassword &&
    html`<form class="panel gap narrow" method="post" action="${path}">${csrfField}${nextField}
<input type="text" name="username" value="${viewer.email}" autocomplete="username" hidden>
${renderFormError({ ...errors, fields: {} }, texts)}
${renderCurrentPassword(texts, errors, { label: texts.account.password })}
${buttons}</form>`
  }
${
  factorKinds.length > 0 &&
  html`<div class="panel gap narrow">${
    options !== null &&
    renderPasskeyForm(context, {
      action: path,
      kind: 'get',
      options,
      button: secondFactor.confirmWithPasskey,
      fields: nextField,
      isPrimary: true,
    })
  }<form class="gap" method="post" action="${path}">${csrfField}${nextField}
${withPassword ? EMPTY : renderFormError({ ...errors, fields: {} }, texts)}
${renderCodeField(texts, errors)}
${buttons}</form></div>`
}`;
}

/** Confirms the session as the form says. Returns what is wrong with it, and null once it is confirmed. */
export async function confirmByForm(context: UserPageContext) {
  const { actions, request, session, texts } = context;
  const form = readForm(request);
  const result = await actions.confirmSession(session, readProof(form));
  if (result.success) return null;
  const { password, code, recoveryCode, response } = toFormErrors(result, texts).fields;
  const wrongCode = (code ?? recoveryCode) && { code: [texts.secondFactor.wrongCode] };
  const errors: FormErrors = response
    ? { form: texts.secondFactor.passkeyRejected, fields: {} }
    : {
        form: toFormErrors(result, texts).form,
        fields: { ...(password && { currentPassword: password }), ...wrongCode },
      };
  return { errors, result };
}

function readProof(form: Form) {
  if (form.has('response')) return { response: readPasskey(form) };
  if (form.has('currentPassword')) return { password: form.text('currentPassword') };
  return readCode(form);
}
