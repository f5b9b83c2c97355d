import type { WebActionData } from '../../actions.ts';
import { CHANNEL_TITLES } from '../../components/channel-choices.ts';
import { type Fate, renderFate } from '../../components/fates.ts';
import { countWords, formatCount, formatMoment, formatMomentInText } from '../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { SignedInVisit } from '../../visit.ts';

type Sent = Pick<WebActionData<'getRun'>, 'deliveries' | 'mails'>;
type Delivery = Sent['deliveries'][number];
type Attempt = Delivery['log'][number];
type Mail = Sent['mails'][number];

const STATES: Record<Delivery['status'], { fate: Fate; text: string }> = {
  pending: { fate: 'waiting', text: 'Waiting' },
  sending: { fate: 'running', text: 'Sending' },
  delivered: { fate: 'ran', text: 'Delivered' },
  failed: { fate: 'failed', text: 'Failed' },
  held: { fate: 'waiting', text: 'Held back' },
  digested: { fate: 'waiting', text: 'In a digest' },
};

const COLUMNS = [
  { head: 'To' },
  { head: 'State' },
  { head: 'Attempts' },
  { head: 'Last' },
  { head: html`<span class="vh">Do</span>` },
];

/** To whom the run was reported, and whether that arrived. */
export function renderDeliveries(visit: SignedInVisit, runId: number, { deliveries, mails }: Sent): Html {
  const rows = [
    ...mails.map((mail) => renderMail(visit, mail)),
    ...deliveries.map((delivery) => renderDelivery(visit, runId, delivery)),
  ];
  return html`<section aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">Who was told</h2></div>
${
  rows.length > 0
    ? html`<form method="post">${visit.csrfField}${renderTable('Mails and deliveries of this run', COLUMNS, rows)}</form>`
    : html`<p class="muted">To no one: no channel, webhook or mail address was set for this run, or the record was deleted since.</p>`
}</section>`;
}

function renderMail(visit: SignedInVisit, { to, status, attempts, at, error }: Mail): Html {
  const { fate, text } = STATES[status];
  return renderRow(
    renderRowHead(html`${to}<span class="sub">mail</span>`),
    renderCell(renderFate(fate, text)),
    renderCell(formatCount(attempts), { class: 'whole', label: 'Attempts' }),
    renderCell(html`${formatMoment(new Date(at), visit.timeZone, visit.now)}${error !== null && `, ${error}`}`, {
      class: 'whole',
    }),
    renderCell(EMPTY),
  );
}

/** A path of a webhook may have a secret. */
function renderTarget({ webhookId, channel, url, event }: Delivery): Html {
  if (channel !== null) {
    return html`<a href="/channels/${webhookId}">${channel.name}</a><span class="sub">${CHANNEL_TITLES[channel.kind]}, ${event}</span>`;
  }
  const name = URL.canParse(url) ? new URL(url).host : url;
  return html`<a href="/webhooks/${webhookId}">${name}</a><span class="sub">webhook, ${event}</span>`;
}

function renderDelivery(visit: SignedInVisit, runId: number, delivery: Delivery): Html {
  const { id, webhookId, event, attempts, isActive } = delivery;
  const status = delivery.digest?.status ?? delivery.status;
  const { fate, text } = STATES[status];
  const canSend = isActive && (status === 'delivered' || status === 'failed');
  return renderRow(
    renderRowHead(renderTarget(delivery)),
    renderCell(html`${renderFate(fate, text)}${delivery.digest && html`<span class="sub">in a digest</span>`}`),
    renderCell(formatCount(attempts), { class: 'whole', label: 'Attempts' }),
    renderCell(html`${describeLast(visit, delivery)}${renderLog(visit, delivery)}`, { class: 'whole' }),
    renderCell(
      canSend
        ? html`<button formaction="/executions/${runId}/deliver-again" name="delivery" value="${webhookId} ${id}${delivery.channel && ' channel'}">Deliver again<span class="vh"> ${event}</span></button>`
        : EMPTY,
      { class: 'whole' },
    ),
  );
}

function describeAttempt({ timeZone, now }: SignedInVisit, { at, isSuccess, statusCode, error }: Attempt): string {
  const without = isSuccess ? 'accepted' : (error ?? 'no answer');
  return `${formatMoment(new Date(at), timeZone, now)}, ${statusCode === null ? without : `answered ${statusCode}`}`;
}

function describeNext({ timeZone, now }: SignedInVisit, { status, nextAttemptAt, digest }: Delivery): string {
  const { status: state, nextAttemptAt: at } = digest ?? { status, nextAttemptAt };
  if (at === null) return '';
  if (state === 'pending') return `next try ${formatMomentInText(at, timeZone, now)}`;
  return state === 'held' && new Date(at) > now ? `until ${formatMomentInText(at, timeZone, now)}` : '';
}

function describeLast(visit: SignedInVisit, delivery: Delivery): string {
  const last = delivery.log.at(-1);
  const describe = delivery.channel === null ? describeAttempt : describeWithError;
  return [last ? describe(visit, last) : '', describeNext(visit, delivery)].filter(Boolean).join('; ');
}

/** A status says little of what a chat has against a message. */
const describeWithError = (visit: SignedInVisit, attempt: Attempt): string => {
  const { statusCode, error } = attempt;
  return `${describeAttempt(visit, attempt)}${statusCode !== null && error !== null ? `: ${error}` : ''}`;
};

function renderLog(visit: SignedInVisit, { id, attempts, log }: Delivery): Html {
  if (log.length < 2) return EMPTY;
  const title = attempts > log.length ? `The last ${log.length} attempts` : countWords(attempts, 'attempt');
  return html`<details id="log-${id}"><summary>${title}</summary><ol class="sent">${log.map(
    (attempt) => html`<li>${describeWithError(visit, attempt)}</li>`,
  )}</ol></details>`;
}
