import type { WebActionData } from '@carillon/contract/actions/web/index';
import { EMPTY, type Html, html } from '../../html.ts';
import { type Fate, renderFate } from '../../parts/fates.ts';
import { formatCount, formatMoment, formatMomentInText } from '../../parts/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../parts/tables.ts';
import type { SignedInVisit } from '../../visit.ts';

type Told = Pick<WebActionData<'getRun'>, 'deliveries' | 'mails'>;
type Delivery = Told['deliveries'][number];
type Mail = Told['mails'][number];

const STATES: Record<Delivery['status'], { fate: Fate; text: string }> = {
  pending: { fate: 'waiting', text: 'Waiting' },
  sending: { fate: 'running', text: 'Sending' },
  delivered: { fate: 'ran', text: 'Delivered' },
  failed: { fate: 'failed', text: 'Failed' },
  held: { fate: 'waiting', text: 'held back' },
  digested: { fate: 'ran', text: 'part of a digest' },
};

const COLUMNS = [
  { head: 'To' },
  { head: 'State' },
  { head: 'Attempts' },
  { head: 'Last' },
  { head: html`<span class="vh">Do</span>` },
];

/** Who was told of the run, and whether the news arrived. */
export function renderDeliveries(visit: SignedInVisit, runId: number, { deliveries, mails }: Told): Html {
  const rows = [
    ...mails.map((mail) => renderMail(visit, mail)),
    ...deliveries.map((delivery) => renderDelivery(visit, runId, delivery)),
  ];
  return html`<section aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">Who was told</h2></div>
${
  rows.length > 0
    ? html`<form method="post">${visit.csrfField}${renderTable('Mails and deliveries of this run', COLUMNS, rows)}</form>`
    : html`<p class="muted">To no one: no webhook and no mail address was set for this run, or the record was deleted since.</p>`
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

function renderDelivery(visit: SignedInVisit, runId: number, delivery: Delivery): Html {
  const { id, webhookId, url, event, status, attempts, isWebhookActive } = delivery;
  const { fate, text } = STATES[status];
  const canSend = isWebhookActive && (status === 'delivered' || status === 'failed');
  return renderRow(
    renderRowHead(
      html`<a href="/webhooks/${webhookId}">${URL.canParse(url) ? new URL(url).host : url}</a><span class="sub">webhook, ${event}</span>`,
    ),
    renderCell(renderFate(fate, text)),
    renderCell(formatCount(attempts), { class: 'whole', label: 'Attempts' }),
    renderCell(describeLast(visit, delivery), { class: 'whole' }),
    renderCell(
      canSend
        ? html`<button formaction="/executions/${runId}/deliver-again" name="delivery" value="${webhookId} ${id}">Deliver again<span class="vh"> ${event}</span></button>`
        : EMPTY,
      { class: 'whole' },
    ),
  );
}

function describeLast({ timeZone, now }: SignedInVisit, { lastAttempt, nextAttemptAt, status }: Delivery): string {
  const moment = (at: string) => formatMoment(new Date(at), timeZone, now);
  const next =
    status === 'pending' && nextAttemptAt !== null
      ? `next try ${formatMomentInText(nextAttemptAt, timeZone, now)}`
      : '';
  if (lastAttempt === null) return next;
  const { at, statusCode, error } = lastAttempt;
  const answer = statusCode === null ? (error ?? 'no answer') : `answered ${statusCode}`;
  return [`${moment(at)}, ${answer}`, next].filter(Boolean).join('; ');
}
