import { nameWebhook } from '../../components/first-line.ts';
import { html } from '../../html.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

export async function showDeleteWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField, texts } = context;
  const { webhooks, deliveries, forms } = texts;
  const id = readUuid(context);
  const name = nameWebhook(unwrap(await actions.getWebhook(session, { id })));
  return {
    title: webhooks.deleteTitle,
    breadcrumb: { href: `/webhooks/${id}`, text: name },
    body: html`<form class="panel gap form" method="post" action="/webhooks/${id}/delete">${csrfField}
<p>${webhooks.deleteText(html`<b>${name}</b>`)}</p>
<p>${deliveries.switchOffInstead}</p>
<div class="do"><button class="danger">${webhooks.delete}</button><a class="button quiet" href="/webhooks/${id}">${forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteWebhook(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  unwrap(await actions.deleteWebhook(session, { id: readUuid(context) }));
  return redirect('/webhooks', texts.webhooks.deleted);
}
