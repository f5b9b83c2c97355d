import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import type { Page, Redirect } from '../../page.ts';
import { type PageContext, unwrap } from '../../page.ts';
import { type AccountValues, EMPTY_ACCOUNT, readAccount, renderAccountFields } from './new-account.ts';

function renderUnusable({ texts: { account } }: PageContext, state: 'invalid' | 'expired' | 'used'): Page {
  if (state === 'used') {
    return {
      status: 410,
      title: account.setupUsed,
      subtitle: account.setupUsedText,
      body: html`<p class="apart"><a class="button primary wide" href="/sign-in">${account.signIn}</a></p>
<p class="fine apart">${account.noAdmin(html`<code>carillon create-admin</code>`)}</p>`,
    };
  }
  const [status, title, subtitle] =
    state === 'invalid'
      ? [404, account.setupInvalid, account.setupInvalidText]
      : [410, account.setupExpired, account.setupExpiredText];
  const help = account.newSetupLink(html`<code>carillon setup-link</code>`);
  return { status, title, subtitle, body: html`<p class="apart">${help}</p>` };
}

const renderSetup = (
  { csrfField, texts }: PageContext,
  token: string,
  values: AccountValues,
  errors: FormErrors,
): Page => ({
  title: texts.account.welcome,
  subtitle: texts.account.firstAccount,
  body: html`<form class="gap" method="post" action="/setup">${csrfField}
<input type="hidden" name="token" value="${token}">
${renderFormError(errors, texts)}
${renderAccountFields(values, errors, texts)}
<button class="primary wide">${texts.account.create}</button>
</form>`,
});

export async function showSetup(context: PageContext): Promise<Page> {
  const { token = '' } = readQuery(context.request);
  const { state } = unwrap(await context.actions.findSetup(context.client, { token }));
  return state === 'open' ? renderSetup(context, token, EMPTY_ACCOUNT, NO_ERRORS) : renderUnusable(context, state);
}

export async function setUp(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = context;
  const form = readForm(request);
  const token = form.text('token');
  const { values, input } = readAccount(form);
  const result = await actions.setUp(client, { token, ...input });
  if (!result.success)
    return { ...renderSetup(context, token, values, toFormErrors(result, context.texts)), status: toStatus(result) };
  const { state, opened, hasProvider } = result.data;
  const to = hasProvider ? '/' : '/admin/providers/new';
  if (opened) return { to, cookies: [dashboard.serializeSession(opened.session)] };
  return state === 'open' ? renderUnusable(context, 'used') : renderUnusable(context, state);
}
