import { randomBytes } from 'node:crypto';
import { readCode, renderCodeField } from '../../components/code-field.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { PASSKEY_SCRIPTS, readPasskey, renderPasskeyForm } from '../../components/passkey-form.ts';
import { buildAddress } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type PageContext, type Redirect, redirect, toOwnPath, unwrap } from '../../page.ts';

/** The button of a sign-in with a passkey, if the installation has passkeys. Sets the cookie of its challenge. */
export async function renderPasskeySignIn(context: PageContext, next: string): Promise<Html> {
  const { actions, client, dashboard, reply, request, texts } = context;
  const browser = dashboard.readBrowser(request.headers.cookie) ?? randomBytes(32).toString('base64url');
  const { options } = unwrap(await actions.getSignInOptions(client, { browser }));
  if (options === null) return EMPTY;
  reply.header('set-cookie', dashboard.serializeBrowser(browser));
  return renderPasskeyForm(context, {
    action: '/sign-in/passkey',
    kind: 'get',
    options,
    button: texts.secondFactor.signInWithPasskey,
    fields: html`<input type="hidden" name="next" value="${next}">`,
    isWide: true,
  });
}

const toSignIn = (next: string, text: string): Redirect => ({
  to: buildAddress('/sign-in', { next: next === '/' ? undefined : next }),
  notice: { kind: 'warn', text },
});

export async function signInWithPasskey(context: PageContext): Promise<Redirect> {
  const { actions, client, dashboard, request, texts } = context;
  const form = readForm(request);
  const next = toOwnPath(form.text('next'));
  const browser = dashboard.readBrowser(request.headers.cookie);
  const refused = toSignIn(next, texts.secondFactor.passkeyRejected);
  if (browser === null) return refused;
  const result = await actions.signInWithPasskey(client, { browser, response: readPasskey(form) });
  if (!result.success && result.code === 'INSUFFICIENT_PERMISSIONS') {
    return toSignIn(next, texts.account.deactivated);
  }
  if (!result.success && result.code === undefined) return refused;
  const { session } = unwrap(result);
  return session === null ? refused : finish(context, session, next);
}

const finish = ({ dashboard }: PageContext, session: string, next: string): Redirect => ({
  to: next,
  cookies: [dashboard.serializeSession(session), dashboard.serializeTicket(null)],
});

async function renderStep(context: PageContext, next: string, errors: FormErrors): Promise<Page> {
  const { csrfField, texts } = context;
  const { secondFactor } = texts;
  return {
    title: secondFactor.title,
    subtitle: secondFactor.stepText,
    scripts: PASSKEY_SCRIPTS,
    body: html`<form class="gap" method="post" action="/sign-in/second-factor">${csrfField}
<input type="hidden" name="next" value="${next}">
${renderFormError(errors, texts)}
${renderCodeField(texts, errors)}
<button class="primary wide">${texts.account.signIn}</button>
</form>
<div class="gap">${await renderPasskeySignIn(context, next)}</div>
<details class="apart"><summary>${secondFactor.lostDevice}</summary><p>${secondFactor.lostDeviceCode}</p><p>${secondFactor.lostDeviceOperator(html`<code>carillon reset-factors</code>`)}</p></details>
<p class="fine apart"><a href="/sign-in">${texts.account.backToSignIn}</a></p>`,
  };
}

export async function showSecondFactor(context: PageContext): Promise<Page | Redirect> {
  const { dashboard, request, texts } = context;
  const next = toOwnPath(readQuery(request).next);
  const hasTicket = dashboard.readTicket(request.headers.cookie) !== null;
  return hasTicket ? renderStep(context, next, NO_ERRORS) : toSignIn(next, texts.secondFactor.tooLate);
}

export async function answerSecondFactor(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, dashboard, request, texts } = context;
  const form = readForm(request);
  const next = toOwnPath(form.text('next'));
  const ticket = dashboard.readTicket(request.headers.cookie);
  if (ticket === null) return toSignIn(next, texts.secondFactor.tooLate);
  const result = await actions.answerTicket(client, { ticket, ...readCode(form) });
  if (!result.success && result.code === 'INSUFFICIENT_PERMISSIONS') {
    return toSignIn(next, texts.account.deactivated);
  }
  if (!result.success) {
    return { ...(await renderStep(context, next, toFormErrors(result, texts))), status: toStatus(result) };
  }
  const { state, session } = result.data;
  if (session !== null) return finish(context, session, next);
  if (state === 'invalid') {
    return { ...toSignIn(next, texts.secondFactor.tooLate), cookies: [dashboard.serializeTicket(null)] };
  }
  const errors = { form: null, fields: { code: [texts.secondFactor.wrongCode] } };
  return { ...(await renderStep(context, next, errors)), status: 401 };
}

/** Where the sign-in goes on after the password. */
export const askForSecondFactor = ({ dashboard }: PageContext, ticket: string, next: string): Redirect => ({
  ...redirect(buildAddress('/sign-in/second-factor', { next: next === '/' ? undefined : next })),
  cookies: [dashboard.serializeTicket(ticket)],
});
