import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { countWords, formatCount, formatMoment, formatMomentInText } from '../../components/format.ts';
import { type RunOutcome, renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

type Sent = Pick<WebActionData<'getRun'>, 'deliveries' | 'mails'>;
type Delivery = Sent['deliveries'][number];
type Attempt = Delivery['log'][number];
type Mail = Sent['mails'][number];

const STATES: Record<Delivery['status'], { outcome: RunOutcome; text: string }> = {
  pending: { outcome: 'waiting', text: 'Waiting' },
  sending: { outcome: 'running', text: 'Sending' },
  delivered: { outcome: 'ran', text: 'Delivered' },
  failed: { outcome: 'failed', text: 'Failed' },
  held: { outcome: 'waiting', text: 'Held back' },
  digested: { outcome: 'waiting', text: 'In a digest' },
};

const COLUMNS = [
  { head: 'To' },
  { head: 'State' },
  { head: 'Attempts' },
  { head: 'Last' },
  { head: html`<span class="vh">Do</span>` },
];

/** To whom the run was reported, and whether that arrived. */
export function renderDeliveries(context: UserPageContext, runId: number, { deliveries, mails }: Sent): Html {
  const rows = [
    ...mails.map((mail) => renderMail(context, mail)),
    ...deliveries.map((delivery) => renderDelivery(context, runId, delivery)),
  ];
  return html`<section aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">Who was told</h2></div>
${
  rows.length > 0
    ? html`<form method="post">${context.csrfField}${renderTable('Mails and deliveries of this run', COLUMNS, rows)}</form>`
    : html`<p class="muted">To no one: no channel, webhook or mail address was set for this run, or the record was deleted since.</p>`
}</section>`;
}

function renderMail(context: UserPageContext, { to, status, attempts, at, error }: Mail): Html {
  const { outcome, text } = STATES[status];
  return renderRow(
    renderRowHead(html`${to}<span class="sub">mail</span>`),
    renderCell(renderOutcome(outcome, text)),
    renderCell(formatCount(attempts), { class: 'whole', label: 'Attempts' }),
    renderCell(html`${formatMoment(new Date(at), context.timeZone, context.now)}${error !== null && `, ${error}`}`, {
      class: 'whole',
    }),
    renderCell(EMPTY),
  );
}

/** A path of a webhook may have a secret. */
function renderTarget({ channels }: Texts, { webhookId, channel, url, event }: Delivery): Html {
  if (channel !== null) {
    return html`<a href="/channels/${webhookId}">${channel.name}</a><span class="sub">${channels.kinds[channel.kind]}, ${event}</span>`;
  }
  const name = URL.canParse(url) ? new URL(url).host : url;
  return html`<a href="/webhooks/${webhookId}">${name}</a><span class="sub">webhook, ${event}</span>`;
}

function renderDelivery(context: UserPageContext, runId: number, delivery: Delivery): Html {
  const { id, webhookId, event, attempts, isActive } = delivery;
  const status = delivery.digest?.status ?? delivery.status;
  const { outcome, text } = STATES[status];
  const canSend = isActive && (status === 'delivered' || status === 'failed');
  return renderRow(
    renderRowHead(renderTarget(context.texts, delivery)),
    renderCell(html`${renderOutcome(outcome, text)}${delivery.digest && html`<span class="sub">in a digest</span>`}`),
    renderCell(formatCount(attempts), { class: 'whole', label: 'Attempts' }),
    renderCell(html`${describeLast(context, delivery)}${renderLog(context, delivery)}`, { class: 'whole' }),
    renderCell(
      canSend
        ? html`<button formaction="/executions/${runId}/deliver-again" name="delivery" value="${webhookId} ${id}${delivery.channel && ' channel'}">Deliver again<span class="vh"> ${event}</span></button>`
        : EMPTY,
      { class: 'whole' },
    ),
  );
}

function describeAttempt({ timeZone, now }: UserPageContext, { at, isSuccess, statusCode, error }: Attempt): string {
  const without = isSuccess ? 'accepted' : (error ?? 'no answer');
  return `${formatMoment(new Date(at), timeZone, now)}, ${statusCode === null ? without : `answered ${statusCode}`}`;
}

function describeNext({ timeZone, now }: UserPageContext, { status, nextAttemptAt, digest }: Delivery): string {
  const { status: state, nextAttemptAt: at } = digest ?? { status, nextAttemptAt };
  if (at === null) return '';
  if (state === 'pending') return `next try ${formatMomentInText(at, timeZone, now)}`;
  return state === 'held' && new Date(at) > now ? `until ${formatMomentInText(at, timeZone, now)}` : '';
}

function describeLast(context: UserPageContext, delivery: Delivery): string {
  const last = delivery.log.at(-1);
  const describe = delivery.channel === null ? describeAttempt : describeWithError;
  return [last ? describe(context, last) : '', describeNext(context, delivery)].filter(Boolean).join('; ');
}

/** A status says little of what a chat has against a message. */
const describeWithError = (context: UserPageContext, attempt: Attempt): string => {
  const { statusCode, error } = attempt;
  return `${describeAttempt(context, attempt)}${statusCode !== null && error !== null ? `: ${error}` : ''}`;
};

function renderLog(context: UserPageContext, { id, attempts, log }: Delivery): Html {
  if (log.length < 2) return EMPTY;
  const title = attempts > log.length ? `The last ${log.length} attempts` : countWords(attempts, 'attempt');
  return html`<details id="log-${id}"><summary>${title}</summary><ol class="sent">${log.map(
    (attempt) => html`<li>${describeWithError(context, attempt)}</li>`,
  )}</ol></details>`;
}
