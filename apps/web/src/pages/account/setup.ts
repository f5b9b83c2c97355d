import type { Page, Redirect } from '../../answer.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { unwrap, type Visit } from '../../visit.ts';
import { NOTHING_TYPED, readAccount, renderAccountFields, type TypedAccount } from './new-account.ts';

const HOW_TO_GET_ONE = html`<p class="apart">Restart Carillon, or run <code>pnpm carillon setup-link</code>: the terminal then shows a new link.</p>`;

const UNUSABLE: Record<'invalid' | 'expired' | 'used', Page> = {
  invalid: {
    status: 404,
    title: 'This setup link does not work',
    lead: 'It is not complete, or belongs to another installation.',
    body: HOW_TO_GET_ONE,
  },
  expired: { status: 410, title: 'This setup link has expired', lead: 'It works for an hour.', body: HOW_TO_GET_ONE },
  used: {
    status: 410,
    title: 'Carillon is set up already',
    lead: 'There is an account, so this link does nothing any more.',
    body: html`<p class="apart"><a class="button primary wide" href="/sign-in">Sign in</a></p>
<p class="fine apart">No admin among the accounts? <code>pnpm carillon create-admin</code> makes one.</p>`,
  },
};

const renderSetup = ({ csrfField }: Visit, token: string, typed: TypedAccount, errors: FormErrors): Page => ({
  title: 'Welcome to Carillon',
  lead: 'This account is the first one, and administers this installation.',
  body: html`<form class="gap" method="post" action="/setup">${csrfField}
<input type="hidden" name="token" value="${token}">
${renderFormError(errors)}
${renderAccountFields(typed, errors)}
<button class="primary wide">Create the admin</button>
</form>`,
});

export async function showSetup(visit: Visit): Promise<Page> {
  const { token = '' } = readQuery(visit.request);
  const { state } = unwrap(await visit.actions.findSetup(visit.client, { token }));
  return state === 'open' ? renderSetup(visit, token, NOTHING_TYPED, NO_ERRORS) : UNUSABLE[state];
}

export async function setUp(visit: Visit): Promise<Page | Redirect> {
  const { actions, client, dashboard, request } = visit;
  const form = readForm(request);
  const token = form.text('token');
  const { typed, input } = readAccount(form);
  const result = await actions.setUp(client, { token, ...input });
  if (!result.success) return { ...renderSetup(visit, token, typed, toFormErrors(result)), status: toStatus(result) };
  const { state, opened } = result.data;
  if (opened) return { to: '/', cookies: [dashboard.serializeSession(opened.session)] };
  return state === 'open' ? UNUSABLE.used : UNUSABLE[state];
}
