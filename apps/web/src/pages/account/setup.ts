import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import type { Page, Redirect } from '../../page.ts';
import { type PageContext, unwrap } from '../../page.ts';
import { type AccountValues, EMPTY_ACCOUNT, readAccount, renderAccountFields } from './new-account.ts';

const HOW_TO_GET_ONE = html`<p class="apart">Restart Carillon, or run <code>pnpm carillon setup-link</code>: the terminal then shows a new link.</p>`;

const UNUSABLE: Record<'invalid' | 'expired' | 'used', Page> = {
  invalid: {
    status: 404,
    title: 'This setup link does not work',
    subtitle: 'It is not complete, or belongs to another installation.',
    body: HOW_TO_GET_ONE,
  },
  expired: {
    status: 410,
    title: 'This setup link has expired',
    subtitle: 'It works for an hour.',
    body: HOW_TO_GET_ONE,
  },
  used: {
    status: 410,
    title: 'Carillon is set up already',
    subtitle: 'There is an account, so this link does nothing any more.',
    body: html`<p class="apart"><a class="button primary wide" href="/sign-in">Sign in</a></p>
<p class="fine apart">No admin among the accounts? <code>pnpm carillon create-admin</code> makes one.</p>`,
  },
};

const renderSetup = ({ csrfField }: PageContext, token: string, values: AccountValues, errors: FormErrors): Page => ({
  title: 'Welcome to Carillon',
  subtitle: 'This account is the first one, and administers this installation.',
  body: html`<form class="gap" method="post" action="/setup">${csrfField}
<input type="hidden" name="token" value="${token}">
${renderFormError(errors)}
${renderAccountFields(values, errors)}
<button class="primary wide">Create the admin</button>
</form>`,
});

export async function showSetup(context: PageContext): Promise<Page> {
  const { token = '' } = readQuery(context.request);
  const { state } = unwrap(await context.actions.findSetup(context.client, { token }));
  return state === 'open' ? renderSetup(context, token, EMPTY_ACCOUNT, NO_ERRORS) : UNUSABLE[state];
}

export async function setUp(context: PageContext): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = context;
  const form = readForm(request);
  const token = form.text('token');
  const { values, input } = readAccount(form);
  const result = await actions.setUp(client, { token, ...input });
  if (!result.success)
    return { ...renderSetup(context, token, values, toFormErrors(result)), status: toStatus(result) };
  const { state, opened } = result.data;
  if (opened) return { to: '/', cookies: [dashboard.serializeSession(opened.session)] };
  return state === 'open' ? UNUSABLE.used : UNUSABLE[state];
}
