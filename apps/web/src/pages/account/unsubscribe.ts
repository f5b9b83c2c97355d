import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type PageContext, unwrap } from '../../page.ts';

/** What mail programs send by one click (RFC 8058), and the button of the page too. */
const FIELD = 'List-Unsubscribe';
const ONE_CLICK = 'One-Click';

/** The same for every link, also one that was never sent. Does nothing, because programs that check mail open links too. */
export function showUnsubscribe({ texts: { account } }: PageContext): Page {
  return {
    title: account.unsubscribeTitle,
    subtitle: account.unsubscribeText,
    body: html`<form class="gap" method="post">
<input type="hidden" name="${FIELD}" value="${ONE_CLICK}">
<button class="primary wide">${account.unsubscribe}</button>
</form>
<p class="fine apart">${account.unsubscribeHint}</p>`,
  };
}

export async function unsubscribe(context: PageContext): Promise<Page> {
  const { actions, client, request, texts } = context;
  if (readForm(request).text(FIELD) !== ONE_CLICK) return { ...showUnsubscribe(context), status: 422 };
  const { token } = request.params as { token: string };
  unwrap(await actions.unsubscribe(client, { token }));
  return {
    title: texts.account.unsubscribed,
    subtitle: texts.account.unsubscribedText,
    body: html`<p class="apart">${texts.account.unsubscribedHint}</p>`,
  };
}
