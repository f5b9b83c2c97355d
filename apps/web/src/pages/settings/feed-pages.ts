import type { ActionError } from '@carillon/contract/actions/index';
import { renderCopyButton, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { isOwnTask } from '../tasks/changes.ts';
import { renderConfirmation } from './confirmation.ts';

interface Owner {
  /** Null for the account. */
  taskId: number | null;
  /** The page that leads here. */
  href: string;
}

const ACCOUNT: Owner = { taskId: null, href: '/settings/data' };

const linkBack = ({ texts }: UserPageContext, { taskId, href }: Owner) => ({
  href,
  text: taskId === null ? texts.navigation.settings : texts.feeds.task,
});

const ofTask =
  <T>(work: (context: UserPageContext, owner: Owner) => Promise<T>) =>
  async (context: UserPageContext): Promise<T | Page> => {
    const id = readId(context);
    if (!(await isOwnTask(context, id))) return renderNotFound(context);
    return work(context, { taskId: id, href: `/tasks/${id}` });
  };

const ofAccount =
  <T>(work: (context: UserPageContext, owner: Owner) => Promise<T>) =>
  (context: UserPageContext): Promise<T> =>
    work(context, ACCOUNT);

/** Shows the address in the answer to the form: it stands in no address, no cookie and no other page. */
async function createFeed(context: UserPageContext, owner: Owner): Promise<Page> {
  const { taskId, href } = owner;
  const { feeds, forms } = context.texts;
  const currentPassword = readForm(context.request).optional('currentPassword');
  const result = await context.actions.createFeed(context.session, {
    taskId,
    ...(currentPassword !== undefined && { currentPassword }),
  });
  if (!result.success && result.code === undefined) return askForPassword(context, owner, result);
  const { url } = unwrap(result);
  return {
    title: feeds.created,
    subtitle: taskId === null ? feeds.ofAllTasks : feeds.ofTask,
    breadcrumb: linkBack(context, owner),
    scripts: [ASSET_URLS.copy],
    body: html`<div class="notice warn"><p><b>${feeds.urlOnce}</b> ${feeds.urlCopy}</p></div>
<section aria-labelledby="address-head">
<div class="head"><h2 id="address-head">${feeds.url}</h2></div>
<div class="copied-code"><pre class="secret" id="feed-url" tabindex="0" role="group" aria-labelledby="address-head" translate="no">${url}</pre>${renderCopyButton('feed-url', context.texts)}</div>
</section>
<p>${feeds.urlHint}</p>
<p class="do"><a class="button primary" href="${href}">${forms.copied}</a></p>`,
  };
}

function askForPassword(context: UserPageContext, owner: Owner, result: ActionError): Page {
  const { csrfField, texts } = context;
  const { feeds, forms } = texts;
  return {
    title: feeds.confirm,
    subtitle: feeds.confirmSubtitle,
    breadcrumb: linkBack(context, owner),
    status: toStatus(result),
    body: html`<form class="panel gap narrow" method="post" action="${owner.href}/feed">${csrfField}
${renderConfirmation(toFormErrors(result, texts), texts)}
<div class="do"><button class="primary">${feeds.create}</button><a class="button quiet" href="${owner.href}">${forms.cancel}</a></div>
</form>`,
  };
}

async function endFeed({ actions, session, texts }: UserPageContext, { taskId, href }: Owner): Promise<Redirect> {
  const result = await actions.endFeed(session, { taskId });
  if (!result.success && result.code !== 'NOT_FOUND') unwrap(result);
  return redirect(href, texts.feeds.ended);
}

export function feedPages({ user }: PageRoutes): void {
  user('POST', '/tasks/:id/feed', ofTask(createFeed));
  user('POST', '/tasks/:id/feed/end', ofTask(endFeed));
  user('POST', '/settings/data/feed', ofAccount(createFeed));
  user('POST', '/settings/data/feed/end', ofAccount(endFeed));
}

/** Whether the account has a feed, with what can be done about it. `createdAt` is null without one. */
export function renderFeed({ csrfField, now, timeZone, texts }: UserPageContext, createdAt: string | null): Html {
  const { formats, feeds } = texts;
  const text = createdAt === null ? feeds.off : feeds.onSince(formats.day(new Date(createdAt), { now, timeZone }));
  return html`<p>${text}</p>
<form class="do" method="post" action="/settings/data/feed">${csrfField}<button>${createdAt === null ? feeds.create : feeds.replace}</button>${
    createdAt !== null && html`<button class="danger" formaction="/settings/data/feed/end">${feeds.end}</button>`
  }</form>`;
}
