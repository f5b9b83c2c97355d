import type { WebActionData } from '../../actions.ts';
import { countWords, formatMoment, formatMomentInText } from '../../components/format.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderPager } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { hostOf, readId } from './address.ts';
import { renderDeliveries } from './deliveries.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryStrip, renderOwner, renderState } from './states.ts';

type Shown = WebActionData<'showWebhook'>;
type Webhook = Shown['webhook'];

const SEARCHED = 1000;

const renderSwitch = ({ csrfField }: UserPageContext, { id, status }: Webhook, isPrimary: boolean): Html =>
  html`<form method="post" action="/webhooks/${id}/switch">${csrfField}<button class="${isPrimary && 'primary'}" name="isActive" value="${
    status === 'active' ? 'false' : 'true'
  }">Switch ${status === 'active' ? 'off' : 'on'}</button></form>`;

const renderTest = ({ csrfField }: UserPageContext, { id }: Webhook, isPrimary: boolean): Html =>
  html`<form method="post" action="/webhooks/${id}/test">${csrfField}<button class="${isPrimary && 'primary'}">Send a test</button></form>`;

const atLeast = (count: number) => (count >= SEARCHED ? ' or more' : '');

/** Why nothing is sent, and what to do. */
function renderWhyOff(context: UserPageContext, webhook: Webhook): Html {
  const { id, status, lastAttempt, waiting } = webhook;
  if (status === 'active') return EMPTY;
  if (status === 'inactive') {
    const waits =
      waiting > 0 &&
      ` ${countWords(waiting, 'delivery', 'deliveries')}${atLeast(waiting)} from before will be sent then.`;
    return html`<div class="notice warn" role="region" aria-labelledby="why">${renderIcon('paused')}
<h2 id="why">Nothing is sent: the webhook is off</h2>
<p>It was switched off by you or by a program with your key. What happens meanwhile is not sent, also not later.${waits}</p>
<p class="do">${renderSwitch(context, webhook, true)}</p></div>`;
  }
  const last =
    lastAttempt !== null &&
    !lastAttempt.success &&
    html` The last one, ${formatMomentInText(lastAttempt.at, context.timeZone, context.now)}, ended so: ${lastAttempt.error}`;
  return html`<div class="notice" role="region" aria-labelledby="why">${renderIcon('failed')}
<h2 id="why">Nothing is sent: every attempt of a delivery failed</h2>
<p>So Carillon has switched the webhook off.${last}</p>
<p><b>What to do:</b> repair the receiver, send a test, then switch the webhook on. What has failed can be <a href="/webhooks/${id}/redeliver">sent again</a> after that.</p>
<div class="do">${renderTest(context, webhook, false)}${renderSwitch(context, webhook, true)}</div></div>`;
}

function renderFacts(context: UserPageContext, webhook: Webhook): Html {
  const { url, description, events, createdAt, previousSecretUntil } = webhook;
  const owner = renderOwner(webhook);
  const isRotating = previousSecretUntil !== null && new Date(previousSecretUntil) > context.now;
  return html`<section aria-labelledby="facts"><h2 id="facts" class="head">About it</h2>
<dl class="facts">
<dt>Address</dt><dd>${url}</dd>
${owner !== null && html`<dt>Belongs to</dt><dd>it is the webhook ${owner}</dd>`}
${description !== null && html`<dt>Description</dt><dd>${description}</dd>`}
<dt>Sent when</dt><dd>${describeEvents(events)}</dd>
<dt>Created</dt><dd>${formatMoment(new Date(createdAt), context.timeZone, context.now)}</dd>
${
  isRotating &&
  html`<dt>Secret</dt><dd>the one before signs too, until ${formatMomentInText(previousSecretUntil, context.timeZone, context.now)}</dd>`
}
</dl></section>`;
}

/** What is done rarely. The address of a managed webhook is changed where it was set. */
function renderActions({ id, purpose, taskId, failed, status }: Webhook): Html {
  const edit = { subscription: `/webhooks/${id}/edit`, task: `/tasks/${taskId}/edit`, account: '/settings' }[purpose];
  const words = { subscription: 'Edit', task: 'Edit the task', account: 'Open the settings' }[purpose];
  return html`<section aria-labelledby="change"><h2 id="change" class="head">Change it</h2>
<div class="do">
<a class="button" href="${edit}">${words}</a>
${failed > 0 && status === 'active' && html`<a class="button" href="/webhooks/${id}/redeliver">Send failed ones again…</a>`}
<a class="button" href="/webhooks/${id}/rotate">Rotate the secret…</a>
${purpose === 'subscription' && html`<a class="button danger" href="/webhooks/${id}/delete">Delete…</a>`}
</div></section>`;
}

function renderLog(
  context: UserPageContext,
  { webhook, deliveries, nextCursor }: Shown,
  cursor: string | undefined,
): Html {
  const path = `/webhooks/${webhook.id}`;
  if (deliveries.length === 0) {
    return html`<div class="panel empty"><p>Each delivery will stand here, with what the receiver answered.</p>
<p>Nothing was sent so far. A test goes out at once.</p></div>`;
  }
  return html`${renderDeliveries(context, webhook, deliveries)}${
    (cursor !== undefined || nextCursor !== null) &&
    renderPager({ path, query: { cursor }, nextCursor, text: 'Newest first, 25 on a page' })
  }`;
}

/** A webhook with its deliveries: whether it is being delivered, and if not, why. */
export async function showWebhook(context: UserPageContext): Promise<Page> {
  const { actions, session, request, timeZone } = context;
  const id = readId(context);
  const { cursor } = readQuery(request);
  const shown = unwrap(await actions.showWebhook(session, { id, ...(cursor && { cursor }) }));
  const { webhook } = shown;
  const { status, latest, failed } = webhook;
  const isOn = status === 'active';
  const owner = renderOwner(webhook);
  return {
    title: `Webhook to ${hostOf(webhook.url)}`,
    breadcrumb: { href: '/webhooks', text: 'Webhooks' },
    subtitle: html`${renderState(status)}${owner !== null && html` · ${owner}`}${
      failed > 0 && html` · ${countWords(failed, 'delivery', 'deliveries')}${atLeast(failed)} failed`
    }`,
    isLive: true,
    aside: isOn ? html`${renderTest(context, webhook, true)}${renderSwitch(context, webhook, false)}` : undefined,
    body: html`${renderWhyOff(context, webhook)}
<div class="split">
<section aria-labelledby="log"><div class="head"><h2 id="log">Deliveries</h2><p>Times in ${timeZone}</p></div>
${latest.length > 0 && html`<div class="over">${renderDeliveryStrip(latest)}</div>`}
${renderLog(context, shown, cursor)}
</section>
<aside class="gap-l" aria-label="The webhook">
${renderFacts(context, webhook)}
${renderActions(webhook)}
</aside>
</div>`,
  };
}
