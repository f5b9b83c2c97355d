import type { WebActionData } from '../../actions.ts';
import { formatCount, formatMoment, formatMomentInText } from '../../components/format.ts';
import { type Html, html } from '../../html.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';
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

function renderBody({ payload, payloadCharacters }: Delivery): Html {
  const isCut = payloadCharacters > payload.length;
  return html`<section aria-labelledby="body"><div class="head"><h2 id="body">Body</h2><p>${
    isCut
      ? `The first ${formatCount(payload.length)} of ${formatCount(payloadCharacters)} characters.`
      : `${formatCount(payloadCharacters)} characters of JSON. Line breaks are added here; each attempt sends the same bytes.`
  }</p></div>
<pre tabindex="0" aria-labelledby="body" translate="no">${formatBody(payload)}</pre></section>`;
}

function renderRedeliver({ csrfField }: UserPageContext, webhookId: string, delivery: Delivery): Html | undefined {
  const { id, status, event, webhookStatus } = delivery;
  if (webhookStatus !== 'active' || status === 'sending' || event === 'test') return undefined;
  return html`<form method="post" action="/webhooks/${webhookId}/deliveries/${id}/redeliver">${csrfField}<button class="primary">${
    status === 'pending' ? 'Send now' : 'Send again'
  }</button></form>`;
}

export async function showDelivery(context: UserPageContext): Promise<Page> {
  const { actions, session, timeZone, now } = context;
  const webhookId = readId(context);
  const deliveryId = readId(context, 'deliveryId');
  const delivery = unwrap(await actions.getDelivery(session, { id: webhookId, deliveryId }));
  const { id, event, status, attempts, createdAt, nextAttemptAt, url, requestId, webhookStatus } = delivery;
  const waits = status === 'pending' && webhookStatus !== 'active';
  return {
    title: `${describeEvents([event])}, ${formatMomentInText(createdAt, timeZone, now)}`,
    breadcrumb: { href: `/webhooks/${webhookId}`, text: hostOf(url) },
    subtitle: html`${renderDeliveryState(delivery)}${waits && ' · it is sent when the webhook is on'}`,
    isLive: true,
    aside: renderRedeliver(context, webhookId, delivery),
    body: html`<div class="split"><section aria-labelledby="attempts"><div class="head"><h2 id="attempts">Attempts</h2><p>Times in ${timeZone}</p></div>
${
  attempts.length > 0
    ? renderAttempts(context, attempts)
    : html`<p class="muted">${status === 'failed' ? 'The log of its attempts was deleted.' : 'It was not sent so far.'}</p>`
}
${
  status === 'pending' &&
  nextAttemptAt !== null &&
  webhookStatus === 'active' &&
  html`<p class="muted">The next attempt is due ${formatMomentInText(nextAttemptAt, timeZone, now)}.</p>`
}</section>
<aside aria-labelledby="facts"><h2 id="facts" class="head">About it</h2>
<dl class="facts"><dt>Event</dt><dd><code>${event}</code></dd>
<dt>Created</dt><dd>${formatMoment(new Date(createdAt), timeZone, now)}</dd>
<dt>webhook-id</dt><dd><code>${id}</code><span class="sub">the same in each attempt</span></dd>
<dt>Caused by request</dt><dd><code>${requestId}</code></dd></dl></aside></div>
${renderBody(delivery)}`,
  };
}

export async function redeliver(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  const deliveryId = readId(context, 'deliveryId');
  unwrap(await actions.redeliver(session, { id, deliveryId }));
  return redirect(`/webhooks/${id}/deliveries/${deliveryId}`, 'It is sent again now, with the same body.');
}
