import { html } from '../../html.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';

export async function showDeleteWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField } = context;
  const id = readId(context);
  const { url } = unwrap(await actions.getWebhook(session, { id }));
  return {
    title: 'Delete this webhook?',
    breadcrumb: { href: `/webhooks/${id}`, text: hostOf(url) },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/delete">${csrfField}
<p>Nothing more is sent to <b>${hostOf(url)}</b>. What waits is dropped, and its deliveries are forgotten. The address that runs tasks from outside stops working. This cannot be undone.</p>
<p>To stop it for a while, switch it off instead.</p>
<div class="do"><button class="danger">Delete webhook</button><a class="button quiet" href="/webhooks/${id}">Keep it</a></div>
</form>`,
  };
}

export async function deleteWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  unwrap(await actions.deleteWebhook(session, { id: readId(context) }));
  return redirect('/webhooks', 'The webhook is deleted.');
}
