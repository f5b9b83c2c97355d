import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderPager } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderSwitch, renderTest } from './buttons.ts';
import { renderDeliveries } from './deliveries.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryStrip, renderOwner, renderState } from './states.ts';

type Shown = WebActionData<'showWebhook'>;
type Webhook = Shown['webhook'];

const SEARCHED = 1000;
const PAGE_SIZE = 25;

/** Why nothing is sent, and what to do. */
function renderWhyOff(context: UserPageContext, webhook: Webhook): Html {
  const { id, status, lastAttempt, waiting } = webhook;
  const { webhooks, deliveries, formats } = context.texts;
  if (status === 'active') return EMPTY;
  if (status === 'inactive') {
    return html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('paused')}
<h2 id="why">${webhooks.offTitle}</h2>
<p>${webhooks.offText}${waiting > 0 && ` ${webhooks.waiting(waiting, waiting >= SEARCHED)}`}</p>
<p class="do">${renderSwitch(context, `/webhooks/${id}`, status, true)}</p></div>`;
  }
  const last =
    lastAttempt !== null &&
    !lastAttempt.success &&
    ` ${deliveries.lastAttempt(formats.momentOn(new Date(lastAttempt.at), context), lastAttempt.error ?? '')}`;
  return html`<div class="notice" role="region" aria-labelledby="why">${renderIcon('failed')}
<h2 id="why">${webhooks.failedTitle}</h2>
<p>${deliveries.switchedOff}${last}</p>
<p><b>${deliveries.fix}</b> ${webhooks.fix((text) => html`<a href="/webhooks/${id}/redeliver">${text}</a>`)}</p>
<div class="do">${renderTest(context, `/webhooks/${id}`, false)}${renderSwitch(context, `/webhooks/${id}`, status, true)}</div></div>`;
}

function renderFacts(context: UserPageContext, webhook: Webhook): Html {
  const { url, description, events, createdAt, previousSecretUntil } = webhook;
  const { texts } = context;
  const { webhooks, deliveries, formats } = texts;
  const owner = renderOwner(texts, webhook);
  const isRotating = previousSecretUntil !== null && new Date(previousSecretUntil) > context.now;
  return html`<section aria-labelledby="facts"><h2 id="facts" class="head">${deliveries.details}</h2>
<dl class="facts">
<dt>${webhooks.url}</dt><dd>${url}</dd>
${owner !== null && html`<dt>${webhooks.belongsTo}</dt><dd>${owner}</dd>`}
${description !== null && html`<dt>${deliveries.description}</dt><dd>${description}</dd>`}
<dt>${webhooks.events}</dt><dd>${describeEvents(texts, events)}</dd>
<dt>${deliveries.created}</dt><dd>${formats.momentLabel(new Date(createdAt), context)}</dd>
${
  isRotating &&
  html`<dt>${webhooks.secret}</dt><dd>${webhooks.secretUntil(formats.moment(new Date(previousSecretUntil), context))}</dd>`
}
</dl></section>`;
}

/** What is done rarely. The address of a managed webhook is changed where it was set. */
function renderActions({ webhooks, lists, forms }: Texts, { id, purpose, taskId, failed, status }: Webhook): Html {
  const edit = {
    subscription: `/webhooks/${id}/edit`,
    task: `/tasks/${taskId}/edit`,
    account: '/settings/notifications',
  }[purpose];
  const words = { subscription: forms.edit, task: webhooks.editTask, account: webhooks.openSettings }[purpose];
  return html`<section aria-labelledby="change"><h2 id="change" class="head">${lists.actions}</h2>
<div class="do">
<a class="button" href="${edit}">${words}</a>
${failed > 0 && status === 'active' && html`<a class="button" href="/webhooks/${id}/redeliver">${webhooks.sendFailed}</a>`}
<a class="button" href="/webhooks/${id}/rotate">${webhooks.rotateLink}</a>
${purpose === 'subscription' && html`<a class="button danger" href="/webhooks/${id}/delete">${forms.delete}</a>`}
</div></section>`;
}

function renderLog(
  context: UserPageContext,
  { webhook, deliveries, nextCursor }: Shown,
  cursor: string | undefined,
): Html {
  const { texts } = context;
  if (deliveries.length === 0) {
    return html`<div class="panel empty"><p>${texts.webhooks.noDeliveries}</p></div>`;
  }
  return html`${renderDeliveries(context, webhook, deliveries)}${
    (cursor !== undefined || nextCursor !== null) &&
    renderPager({
      path: `/webhooks/${webhook.id}`,
      query: { cursor },
      nextCursor,
      text: texts.lists.newestFirst(PAGE_SIZE),
      texts,
    })
  }`;
}

/** A webhook with its deliveries: whether it is being delivered, and if not, why. */
export async function showWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone, texts } = context;
  const { webhooks, lists } = texts;
  const id = readUuid(context);
  const { cursor } = readQuery(request);
  const shown = unwrap(await actions.showWebhook(session, { id, ...(cursor && { cursor }) }));
  const { webhook } = shown;
  const { status, latest, failed } = webhook;
  const isOn = status === 'active';
  const owner = renderOwner(texts, webhook);
  return {
    title: webhooks.titleTo(nameWebhook(webhook)),
    breadcrumb: { href: '/webhooks', text: webhooks.title },
    subtitle: html`${renderState(texts, status)}${owner !== null && html` · ${owner}`}${
      failed > 0 && ` · ${webhooks.failed(failed, failed >= SEARCHED)}`
    }`,
    isLive: true,
    aside: isOn
      ? html`${renderTest(context, `/webhooks/${id}`, true)}${renderSwitch(context, `/webhooks/${id}`, status, false)}`
      : undefined,
    body: html`${renderWhyOff(context, webhook)}
<div class="split">
<section aria-labelledby="log"><div class="head"><h2 id="log">${webhooks.deliveries}</h2><p>${lists.timesIn(timeZone)}</p></div>
${latest.length > 0 && html`<div class="over">${renderDeliveryStrip(texts, latest)}</div>`}
${renderLog(context, shown, cursor)}
</section>
<aside class="gap-l" aria-label="${webhooks.webhook}">
${renderFacts(context, webhook)}
${renderActions(texts, webhook)}
</aside>
</div>`,
  };
}
