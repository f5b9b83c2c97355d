import { countWords } from '../../components/format.ts';
import { html } from '../../html.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readId } from '../webhooks/address.ts';

export async function showDeleteChannel(context: UserPageContext): Promise<Page> {
  const { actions, session, csrfField } = context;
  const id = readId(context);
  const { name, taskCount, isForAccount } = unwrap(await actions.getChannel(session, { id }));
  const senders = [
    ...(taskCount > 0 ? [countWords(taskCount, 'task')] : []),
    ...(isForAccount ? ['the notifications of your account'] : []),
  ].join(' and ');
  return {
    title: 'Delete this channel?',
    breadcrumb: { href: `/channels/${id}`, text: name },
    body: html`<form class="panel gap form" method="post" action="/channels/${id}/delete">${csrfField}
<p>Nothing more is sent to <b>${name}</b>. What waits is dropped, and its log is deleted. This cannot be undone.</p>
${senders !== '' && html`<p><b>It is in use:</b> ${senders} will not send to it any more, and nothing takes its place.</p>`}
<p>To stop it for a while, switch it off instead.</p>
<div class="do"><button class="danger">Delete channel</button><a class="button quiet" href="/channels/${id}">Keep it</a></div>
</form>`,
  };
}

export async function deleteChannel(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  unwrap(await actions.deleteChannel(session, { id: readId(context) }));
  return redirect('/channels', 'The channel is deleted.');
}
