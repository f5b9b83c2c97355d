import { html } from '../../html.ts';
import type { Page } from '../../page.ts';
import { type PageContext, unwrap } from '../../page.ts';

type Purpose = 'change_approved' | 'email_changed' | 'notifications_confirmed';

/** What the page asks, and what it says once that is done. */
const TEXTS: Record<Purpose, { title: string; ask: string; button: string; done: string; after: string }> = {
  change_approved: {
    title: 'Approve the new e-mail address',
    ask: 'Your account is to get this address:',
    button: 'Approve the address',
    done: 'The address is approved',
    after: 'A link to confirm it is on its way to the new address.',
  },
  email_changed: {
    title: 'Confirm your e-mail address',
    ask: 'Your account gets this address:',
    button: 'Confirm the address',
    done: 'Your e-mail address is changed',
    after: 'Sign in with the new address from now on.',
  },
  notifications_confirmed: {
    title: 'Allow mail from Carillon',
    ask: 'A user of Carillon wants to have notifications and answers sent to this address:',
    button: 'Allow this mail',
    done: 'This address gets mail from now on',
    after: 'Notifications and answers of that account are sent here.',
  },
};

const UNUSABLE: Page = {
  status: 410,
  title: 'This link does not work',
  subtitle: 'It was used already, replaced by a newer one, or is older than an hour.',
  body: html`<p class="apart">Save the address again in the settings to get another link.</p>
<p class="apart"><a class="button wide" href="/settings">Go to the settings</a></p>`,
};

const getToken = ({ request }: PageContext) => (request.params as { token: string }).token;

/** Does not use the link, because programs that check mail open links too. */
export async function showConfirmation(context: PageContext): Promise<Page> {
  const { actions, client, csrfField } = context;
  const found = unwrap(await actions.findConfirmation(client, { token: getToken(context) }));
  if (!found) return UNUSABLE;
  const { title, ask, button } = TEXTS[found.purpose];
  return {
    title,
    subtitle: ask,
    body: html`<p class="lead apart"><b>${found.email}</b></p>
<form class="gap" method="post">${csrfField}<button class="primary wide">${button}</button></form>
<p class="fine apart">If you do not know about this, close the page: nothing happens then.</p>`,
  };
}

export async function confirmEmail(context: PageContext): Promise<Page> {
  const { actions, client } = context;
  const result = await actions.confirmEmail(client, { token: getToken(context) });
  if (!result.success && result.code === 'CONFLICT') {
    return { status: 409, title: 'The address was not changed', subtitle: result.error, body: renderWayOn() };
  }
  const { confirmed } = unwrap(result);
  if (confirmed === null) return UNUSABLE;
  const { done, after } = TEXTS[confirmed];
  return { title: done, subtitle: after, body: renderWayOn() };
}

const renderWayOn = () => html`<p class="apart"><a class="button wide" href="/">Go to Carillon</a></p>`;
