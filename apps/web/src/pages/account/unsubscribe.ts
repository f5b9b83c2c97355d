import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type PageContext, unwrap } from '../../page.ts';

/** What mail programs send by one click (RFC 8058), and the button of the page too. */
const FIELD = 'List-Unsubscribe';
const ONE_CLICK = 'One-Click';

/** The same for every link, also one that was never sent. Does nothing, because programs that check mail open links too. */
export function showUnsubscribe(): Page {
  return {
    title: 'Get no more of this mail',
    subtitle: 'The mail that you came from has its own link, so you need not sign in.',
    body: html`<form class="gap" method="post">
<input type="hidden" name="${FIELD}" value="${ONE_CLICK}">
<button class="primary wide">Unsubscribe</button>
</form>
<p class="fine apart">If you close the page instead, nothing changes.</p>`,
  };
}

export async function unsubscribe({ actions, client, request }: PageContext): Promise<Page> {
  if (readForm(request).text(FIELD) !== ONE_CLICK) return { ...showUnsubscribe(), status: 422 };
  const { token } = request.params as { token: string };
  unwrap(await actions.unsubscribe(client, { token }));
  return {
    title: 'You get no more of this mail',
    subtitle: 'The account that sent it to you is notified.',
    body: html`<p class="apart">Should they send it again, you get a link first that asks for your consent.</p>`,
  };
}
