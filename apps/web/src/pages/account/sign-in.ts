import type { ActionError } from '@carillon/contract/actions/index';
import type { Texts } from '@carillon/texts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { PASSKEY_SCRIPTS } from '../../components/passkey-form.ts';
import { buildAddress } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { areCookiesRefused, explainCookies } from '../../http/cookies.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type PageContext, type Redirect, toOwnPath, unwrap } from '../../page.ts';
import { askForSecondFactor, renderPasskeySignIn } from './second-factor.ts';

interface FormValues {
  email: string;
  next: string;
}

const PROVIDERS: Record<string, string> = { github: 'GitHub', google: 'Google' };

const renderProviders = ({ dashboard, texts: { account } }: PageContext, next: string): Html =>
  html`${dashboard.signInProviders.map((name) => {
    const provider = PROVIDERS[name] ?? (name === 'oidc' ? account.organisation : name);
    return html`<a class="button wide" href="${buildAddress(`/api/auth/oauth/${name}`, { next: next === '/' ? undefined : next })}">${account.continueWith(provider)}</a>`;
  })}`;

/** What went wrong at a provider, by the `error` of the address that it led to. */
function describeError({ dashboard, request, texts }: PageContext): string | null {
  const { account } = texts;
  const { error = '' } = readQuery(request);
  if (error === 'cookies' || areCookiesRefused(dashboard)) {
    return account.cookiesRefused(explainCookies(dashboard.appUrl, texts));
  }
  switch (error) {
    case 'failed':
      return account.providerFailed;
    case 'unverified':
      return account.providerUnverified;
    case 'deactivated':
      return account.deactivated;
    case 'unreachable':
      return account.providerUnreachable;
    default:
      return null;
  }
}

/** What a visitor has to know first. */
function renderState(
  { isMaintenance, hasAccounts }: { isMaintenance: boolean; hasAccounts: boolean },
  { account }: Texts,
): Html {
  if (isMaintenance) return html`<div class="notice warn apart"><p>${account.maintenance}</p></div>`;
  return hasAccounts ? EMPTY : html`<div class="notice info apart"><p>${account.noAccounts}</p></div>`;
}

async function renderSignIn(context: PageContext, { email, next }: FormValues, errors: FormErrors): Promise<Page> {
  const { csrfField, dashboard, texts } = context;
  const { account } = texts;
  const register = buildAddress('/register', { next: next === '/' ? undefined : next });
  const state = unwrap(await context.actions.getSignInState(context.client, {}));
  return {
    title: account.signIn,
    subtitle: account.signInTo(new URL(dashboard.appUrl).host),
    scripts: PASSKEY_SCRIPTS,
    body: html`${renderState(state, texts)}
<form class="gap" method="post" action="/sign-in">${csrfField}
<input type="hidden" name="next" value="${next}">
${renderFormError(errors, texts)}
${renderInput({ name: 'email', label: account.email, type: 'email', value: email, autocomplete: 'username', required: true, errors })}
${renderInput({
  name: 'password',
  label: account.password,
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  errors,
  hint: html`<a href="/forgot-password">${account.forgotPassword}</a>`,
})}
<button class="primary wide">${account.signIn}</button>
</form>
${
  // The first account that is not made by the setup link is no administrator's.
  state.hasAccounts &&
  html`<div class="gap">${await renderPasskeySignIn(context, next)}${renderProviders(context, next)}
<p class="fine">${account.newHere((text) => html`<a href="${register}">${text}</a>`)}</p></div>`
}`,
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
  if (result.success && result.data.session === null) return askForSecondFactor(context, result.data.ticket, next);
  if (result.success) return { to: next, cookies: [dashboard.serializeSession(result.data.session)] };
  const errors = toSignInErrors(result, context.texts);
  const page = await renderSignIn(context, { email, next }, errors);
  return { ...page, status: toStatus(result) };
}

function toSignInErrors(result: ActionError, texts: Texts): FormErrors {
  switch (result.code) {
    case 'INSUFFICIENT_PERMISSIONS':
      return { ...NO_ERRORS, form: texts.account.deactivated };
    case 'INVALID_CREDENTIALS':
      return { ...NO_ERRORS, form: texts.account.wrongCredentials };
    default:
      return toFormErrors(result, texts);
  }
}
