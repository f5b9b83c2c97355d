import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { buildAddress } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { areCookiesRefused, explainCookies } from '../../http/cookies.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type PageContext, type Redirect, toOwnPath, unwrap } from '../../page.ts';

interface FormValues {
  email: string;
  next: string;
}

const PROVIDERS: Record<string, string> = { github: 'GitHub', google: 'Google', oidc: 'your organisation' };

const renderProviders = (providers: readonly string[]): Html =>
  html`${providers.map(
    (name) => html`<a class="button wide" href="/api/auth/oauth/${name}">Continue with ${PROVIDERS[name] ?? name}</a>`,
  )}`;

const DEACTIVATED = 'This account is deactivated. An administrator of this installation can activate it.';

/** What went wrong at a provider, by the `error` of the address that it led to. */
const PROVIDER_ERRORS: Record<string, string> = {
  failed: 'The provider did not confirm the sign-in, or it took too long. Start again.',
  unverified: 'The provider has not verified your e-mail address. Verify it there, then start again.',
  deactivated: DEACTIVATED,
  unreachable: 'The provider does not answer now. Try again later, or sign in with your password.',
};

function describeError({ dashboard, request }: PageContext): string | null {
  const { error = '' } = readQuery(request);
  if (error === 'cookies' || areCookiesRefused(dashboard)) {
    return `Your browser refuses the cookie of the sign-in. ${explainCookies(dashboard.appUrl)}`;
  }
  return Object.hasOwn(PROVIDER_ERRORS, error) ? (PROVIDER_ERRORS[error] ?? null) : null;
}

/** What a visitor has to know first. */
async function renderState({ actions, client }: PageContext): Promise<Html> {
  const { isMaintenance, hasAccounts } = unwrap(await actions.getSignInState(client, {}));
  if (isMaintenance) {
    return html`<div class="notice warn apart"><p>Carillon is under maintenance. Until it ends, only administrators can use it.</p></div>`;
  }
  return hasAccounts
    ? EMPTY
    : html`<div class="notice info apart"><p>There is no account yet. The terminal where Carillon was started shows a link that creates the first one, of the administrator.</p></div>`;
}

async function renderSignIn(context: PageContext, { email, next }: FormValues, errors: FormErrors): Promise<Page> {
  const { csrfField, dashboard } = context;
  const register = buildAddress('/register', { next: next === '/' ? undefined : next });
  return {
    title: 'Sign in',
    subtitle: `to ${new URL(dashboard.appUrl).host}`,
    body: html`${await renderState(context)}
<form class="gap" method="post" action="/sign-in">${csrfField}
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
<p class="fine">New here? <a href="${register}">Create an account</a></p></div>`,
  };
}

export const showSignIn = (context: PageContext): Promise<Page> => {
  const next = toOwnPath(readQuery(context.request).next);
  return renderSignIn(context, { email: '', next }, { ...NO_ERRORS, form: describeError(context) });
};

export async function signIn(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = context;
  const form = readForm(request);
  const email = form.text('email').trim();
  const next = toOwnPath(form.text('next'));
  const result = await actions.signIn(client, { email, password: form.text('password') });
  if (result.success) return { to: next, cookies: [dashboard.serializeSession(result.data.session)] };
  const errors =
    result.code === 'INSUFFICIENT_PERMISSIONS' ? { ...NO_ERRORS, form: DEACTIVATED } : toFormErrors(result);
  const page = await renderSignIn(context, { email, next }, errors);
  return { ...page, status: toStatus(result) };
}
