import type { ActionError } from '@carillon/contract/actions/index';
import { parseId } from '@carillon/contract/validation/formats';
import { toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm } from '../../http/forms.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { isOwnTask } from '../tasks/changes.ts';
import { renderConfirmation } from './confirmation.ts';

interface Owner {
  /** Null for the account. */
  taskId: number | null;
  /** The page that leads here. */
  href: string;
  text: string;
}

const ACCOUNT: Owner = { taskId: null, href: '/settings', text: 'Settings' };

const ofTask =
  <T>(work: (context: UserPageContext, owner: Owner) => Promise<T>) =>
  async (context: UserPageContext): Promise<T | Page> => {
    const id = parseId((context.request.params as { id: string }).id);
    if (id === null || !(await isOwnTask(context, id))) return renderNotFound(context);
    return work(context, { taskId: id, href: `/tasks/${id}`, text: 'The task' });
  };

const ofAccount =
  <T>(work: (context: UserPageContext, owner: Owner) => Promise<T>) =>
  (context: UserPageContext): Promise<T> =>
    work(context, ACCOUNT);

/** Shows the address in the answer to the form: it stands in no address, no cookie and no other page. */
async function createFeed(context: UserPageContext, owner: Owner): Promise<Page> {
  const { taskId, href, text } = owner;
  const currentPassword = readForm(context.request).optional('currentPassword');
  const result = await context.actions.createFeed(context.session, {
    taskId,
    ...(currentPassword !== undefined && { currentPassword }),
  });
  if (!result.success && result.code === undefined) return askForPassword(context, owner, result);
  const { url } = unwrap(result);
  return {
    title: 'The feed is on',
    subtitle:
      taskId === null ? 'It has the newest 50 answers of all tasks.' : 'It has the newest 50 answers of the task.',
    breadcrumb: { href, text },
    body: html`<div class="notice warn"><p><b>The address is shown this once.</b> Copy it now: it cannot be shown again, only replaced by another one.</p></div>
<section aria-labelledby="address-head">
<div class="head"><h2 id="address-head">Address</h2></div>
<pre class="secret" tabindex="0" aria-labelledby="address-head" translate="no">${url}</pre>
</section>
<p>Give it to a feed reader. Anyone with it can read the answers without a password, so treat it like one. The previous address of this feed no longer works.</p>
<p class="do"><a class="button primary" href="${href}">I have copied it</a></p>`,
  };
}

const askForPassword = ({ csrfField, texts }: UserPageContext, { href, text }: Owner, result: ActionError): Page => ({
  title: 'Confirm that it is you',
  subtitle: 'Anyone with the address of a feed can read its answers.',
  breadcrumb: { href, text },
  status: toStatus(result),
  body: html`<form class="panel gap narrow" method="post" action="${href}/feed">${csrfField}
${renderConfirmation(toFormErrors(result, texts))}
<div class="do"><button class="primary">Create feed</button><a class="button quiet" href="${href}">Cancel</a></div>
</form>`,
});

async function endFeed({ actions, session }: UserPageContext, { taskId, href }: Owner): Promise<Redirect> {
  const result = await actions.endFeed(session, { taskId });
  if (!result.success && result.code !== 'NOT_FOUND') unwrap(result);
  return redirect(href, 'The feed has ended. Its address shows nothing any more.');
}

export function feedPages({ user }: PageRoutes): void {
  user('POST', '/tasks/:id/feed', ofTask(createFeed));
  user('POST', '/tasks/:id/feed/end', ofTask(endFeed));
  user('POST', '/settings/feed', ofAccount(createFeed));
  user('POST', '/settings/feed/end', ofAccount(endFeed));
}
