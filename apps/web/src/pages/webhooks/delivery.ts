import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { type Html, html } from '../../html.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderAttempts } from './deliveries.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryState } from './states.ts';

type Delivery = WebActionData<'getDelivery'>;

/** With line breaks. A body that is shown in part is not JSON any more. */
function formatBody(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}

function renderBody({ webhooks }: Texts, { payload, payloadCharacters }: Delivery): Html {
  const isCut = payloadCharacters > payload.length;
  return html`<section aria-labelledby="body"><div class="head"><h2 id="body">${webhooks.body}</h2><p>${
    isCut ? webhooks.bodyCut(payload.length, payloadCharacters) : webhooks.bodyWhole(payloadCharacters)
  }</p></div>
<pre tabindex="0" role="group" aria-labelledby="body" translate="no">${formatBody(payload)}</pre></section>`;
}

function renderRedeliver(context: UserPageContext, webhookId: string, delivery: Delivery): Html | undefined {
  const { csrfField, texts } = context;
  const { id, status, event, webhookStatus } = delivery;
  if (webhookStatus !== 'active' || status === 'sending' || event === 'test') return undefined;
  return html`<form method="post" action="/webhooks/${webhookId}/deliveries/${id}/redeliver">${csrfField}<button class="primary">${
    status === 'pending' ? texts.deliveries.sendNow : texts.deliveries.sendAgain
  }</button></form>`;
}

export async function showDelivery(context: UserPageContext): Promise<Page> {
  const { actions, session, timeZone, texts } = context;
  const { webhooks, deliveries, formats, lists } = texts;
  const webhookId = readUuid(context);
  const deliveryId = readUuid(context, 'deliveryId');
  const delivery = unwrap(await actions.getDelivery(session, { id: webhookId, deliveryId }));
  const { id, event, status, attempts, createdAt, nextAttemptAt, requestId, webhookStatus } = delivery;
  const waits = status === 'pending' && webhookStatus !== 'active';
  return {
    title: webhooks.delivery(describeEvents(texts, [event]), formats.moment(new Date(createdAt), context)),
    breadcrumb: { href: `/webhooks/${webhookId}`, text: nameWebhook(delivery) },
    subtitle: html`${renderDeliveryState(texts, delivery)}${waits && ` · ${webhooks.waitsForSwitch}`}`,
    isLive: true,
    aside: renderRedeliver(context, webhookId, delivery),
    body: html`<div class="split"><section aria-labelledby="attempts"><div class="head"><h2 id="attempts">${webhooks.attempts}</h2><p>${lists.timesIn(timeZone)}</p></div>
${
  attempts.length > 0
    ? renderAttempts(context, attempts)
    : html`<p class="muted">${status === 'failed' ? deliveries.logDeleted : webhooks.notSent}</p>`
}
${
  status === 'pending' &&
  nextAttemptAt !== null &&
  webhookStatus === 'active' &&
  html`<p class="muted">${webhooks.nextAttempt(formats.momentOn(new Date(nextAttemptAt), context))}</p>`
}</section>
<aside aria-labelledby="facts"><h2 id="facts" class="head">${deliveries.details}</h2>
<dl class="facts"><dt>${deliveries.created}</dt><dd>${formats.momentLabel(new Date(createdAt), context)}</dd>
<dt>webhook-id</dt><dd><code>${id}</code><span class="sub">${webhooks.sameInEach}</span></dd>
<dt>${webhooks.request}</dt><dd><code>${requestId}</code></dd></dl></aside></div>
${renderBody(texts, delivery)}`,
  };
}

export async function redeliver(context: UserPageContext): Promise<Redirect> {
  const { actions, session, texts } = context;
  const id = readUuid(context);
  const deliveryId = readUuid(context, 'deliveryId');
  unwrap(await actions.redeliver(session, { id, deliveryId }));
  return redirect(`/webhooks/${id}/deliveries/${deliveryId}`, texts.webhooks.resent);
}
