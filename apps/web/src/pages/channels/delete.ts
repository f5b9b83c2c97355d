import { html } from '../../html.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

export async function showDeleteChannel(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField, texts } = context;
  const { channels, deliveries, forms } = texts;
  const id = readUuid(context);
  const { name, taskCount, isForAccount } = unwrap(await actions.getChannel(session, { id }));
  const users = [
    ...(taskCount > 0 ? [channels.tasks(taskCount)] : []),
    ...(isForAccount ? [channels.accountNotifications] : []),
  ];
  return {
    title: channels.deleteTitle,
    breadcrumb: { href: `/channels/${id}`, text: name },
    body: html`<form class="panel gap form" method="post" action="/channels/${id}/delete">${csrfField}
<p>${channels.deleteText(html`<b>${name}</b>`)}</p>
${users.length > 0 && html`<p><b>${channels.inUse}</b> ${channels.losesUse(users)}</p>`}
<p>${deliveries.switchOffInstead}</p>
<div class="do"><button class="danger">${channels.delete}</button><a class="button quiet" href="/channels/${id}">${forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  unwrap(await actions.deleteChannel(session, { id: readUuid(context) }));
  return redirect('/channels', texts.channels.deleted);
}
