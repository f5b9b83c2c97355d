import { type Page, type Redirect, toOwnPath } from '../../answer.ts';
import { type Html, html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../parts/fields.ts';
import type { Visit } from '../../visit.ts';

interface Typed {
  email: string;
  next: string;
}

const PROVIDERS: Record<string, string> = { github: 'GitHub', google: 'Google', oidc: 'your organisation' };

const renderProviders = (providers: readonly string[]): Html =>
  html`${providers.map(
    (name) =>
      html`<p><a class="button wide" href="/api/auth/oauth/${name}">Continue with ${PROVIDERS[name] ?? name}</a></p>`,
  )}`;

function renderSignIn({ dashboard, csrfField }: Visit, { email, next }: Typed, errors: FormErrors): Page {
  return {
    title: 'Sign in',
    lead: `to ${new URL(dashboard.appUrl).host}`,
    body: html`<form class="gap" method="post" action="/sign-in">${csrfField}
<input type="hidden" name="next" value="${next}">
${renderFormError(errors)}
${renderInput({ name: 'email', label: 'E-mail', type: 'email', value: email, autocomplete: 'username', required: true, errors })}
${renderInput({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  errors,
  hint: html`<a href="/forgot-password">Forgot it?</a>`,
})}
<button class="primary wide">Sign in</button>
</form>
<div class="gap">${renderProviders(dashboard.signInProviders)}
<p class="fine">New here? <a href="/register">Create an account</a></p></div>`,
  };
}

export const showSignIn = (visit: Visit): Page =>
  renderSignIn(visit, { email: '', next: toOwnPath(readQuery(visit.request).next) }, NO_ERRORS);

export async function signIn(visit: Visit): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = visit;
  const form = readForm(request);
  const email = form.text('email');
  const next = toOwnPath(form.text('next'));
  const result = await actions.signIn(client, { email, password: form.text('password') });
  if (result.success) return { to: next, cookies: [dashboard.serializeSession(result.data.session)] };
  const page = renderSignIn(visit, { email, next }, toFormErrors(result));
  return { ...page, status: toStatus(result) };
}
