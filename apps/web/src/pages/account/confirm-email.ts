import { type Texts, translateApiMessage } from '@carillon/texts';
import { html } from '../../html.ts';
import { type Page, type PageContext, unwrap } from '../../page.ts';

type Purpose = 'change_approved' | 'email_changed' | 'notifications_confirmed';

/** What the page asks, and what it says once that is done. */
function textsOf(purpose: Purpose, { account }: Texts) {
  switch (purpose) {
    case 'change_approved':
      return {
        title: account.approveEmail,
        ask: account.approveEmailAsk,
        button: account.approveEmailButton,
        done: account.emailApproved,
        after: account.emailApprovedText,
      };
    case 'email_changed':
      return {
        title: account.confirmEmail,
        ask: account.confirmEmailAsk,
        button: account.confirmEmailButton,
        done: account.emailChanged,
        after: account.emailChangedText,
      };
    case 'notifications_confirmed':
      return {
        title: account.allowMail,
        ask: account.allowMailAsk,
        button: account.allowMailButton,
        done: account.mailAllowed,
        after: account.mailAllowedText,
      };
  }
}

const renderUnusable = ({ texts: { account } }: PageContext): Page => ({
  status: 410,
  title: account.linkUnusable,
  subtitle: account.confirmationUnusable,
  body: html`<p class="apart">${account.confirmationAgain}</p>
<p class="apart"><a class="button wide" href="/settings/security">${account.openSettings}</a></p>`,
});

const getToken = ({ request }: PageContext) => (request.params as { token: string }).token;

/** Does not use the link, because programs that check mail open links too. */
export async function showConfirmation(context: PageContext): Promise<Page> {
  const { actions, client, csrfField, texts } = context;
  const found = unwrap(await actions.findConfirmation(client, { token: getToken(context) }));
  if (!found) return renderUnusable(context);
  const { title, ask, button } = textsOf(found.purpose, texts);
  return {
    title,
    subtitle: ask,
    body: html`<p class="lead apart"><b>${found.email}</b></p>
<form class="gap" method="post">${csrfField}<button class="primary wide">${button}</button></form>
<p class="fine apart">${texts.account.ignoreConfirmation}</p>`,
  };
}

export async function confirmEmail(context: PageContext): Promise<Page> {
  const { actions, client, texts } = context;
  const result = await actions.confirmEmail(client, { token: getToken(context) });
  if (!result.success && result.code === 'CONFLICT') {
    return {
      status: 409,
      title: texts.account.emailNotChanged,
      subtitle: translateApiMessage(result.error, texts),
      body: renderWayOn(context),
    };
  }
  const { confirmed } = unwrap(result);
  if (confirmed === null) return renderUnusable(context);
  const { done, after } = textsOf(confirmed, texts);
  return { title: done, subtitle: after, body: renderWayOn(context) };
}

const renderWayOn = ({ texts }: PageContext) =>
  html`<p class="apart"><a class="button wide" href="/">${texts.account.openCarillon}</a></p>`;
