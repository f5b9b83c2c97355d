import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { nameWebhook } from '../../components/first-line.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderDeliveryState } from '../webhooks/states.ts';

type Sent = Pick<WebActionData<'getRun'>, 'deliveries' | 'mails'>;
type Delivery = Sent['deliveries'][number];
type Attempt = Delivery['log'][number];
type Mail = Sent['mails'][number];

/** To whom the run was reported, and whether that arrived. */
export function renderDeliveries(context: UserPageContext, runId: number, { deliveries, mails }: Sent): Html {
  const { runs, lists } = context.texts;
  const columns = [
    { head: runs.recipient },
    { head: runs.state },
    { head: runs.attempts },
    { head: runs.last },
    { head: html`<span class="vh">${lists.actions}</span>` },
  ];
  const rows = [
    ...mails.map((mail) => renderMail(context, mail)),
    ...deliveries.map((delivery) => renderDelivery(context, runId, delivery)),
  ];
  return html`<section aria-labelledby="deliveries"><div class="head"><h2 id="deliveries">${runs.deliveries}</h2></div>
${
  rows.length > 0
    ? html`<form method="post">${context.csrfField}${renderTable(runs.deliveriesTable, columns, rows)}</form>`
    : html`<p class="muted">${runs.nobody}</p>`
}</section>`;
}

function renderMail(context: UserPageContext, { to, status, attempts, at, error }: Mail): Html {
  const { runs, formats } = context.texts;
  return renderRow(
    renderRowHead(html`${to}<span class="sub">${runs.mail}</span>`),
    renderCell(renderDeliveryState(context.texts, { status, attempt: attempts })),
    renderCell(formats.number(attempts), { class: 'whole', label: runs.attempts }),
    renderCell(html`${formats.momentLabel(new Date(at), context)}${error !== null && `, ${error}`}`, {
      class: 'whole',
    }),
    renderCell(EMPTY),
  );
}

function renderTarget({ channels, runs, events }: Texts, delivery: Delivery): Html {
  const { webhookId, channel } = delivery;
  const event = events.names[delivery.event];
  if (channel !== null) {
    return html`<a href="/channels/${webhookId}">${channel.name}</a><span class="sub">${channels.kinds[channel.kind]}, ${event}</span>`;
  }
  return html`<a href="/webhooks/${webhookId}">${nameWebhook(delivery)}</a><span class="sub">${runs.webhook}, ${event}</span>`;
}

function renderDelivery(context: UserPageContext, runId: number, delivery: Delivery): Html {
  const { id, webhookId, event, attempts, isActive } = delivery;
  const status = delivery.digest?.status ?? delivery.status;
  const { runs, formats } = context.texts;
  const canSend = isActive && (status === 'delivered' || status === 'failed');
  return renderRow(
    renderRowHead(renderTarget(context.texts, delivery)),
    renderCell(
      html`${renderDeliveryState(context.texts, { status, attempt: attempts })}${delivery.digest && html`<span class="sub">${runs.inDigest}</span>`}`,
    ),
    renderCell(formats.number(attempts), { class: 'whole', label: runs.attempts }),
    renderCell(html`${describeLast(context, delivery)}${renderLog(context, delivery)}`, { class: 'whole' }),
    renderCell(
      canSend
        ? html`<button formaction="/executions/${runId}/deliver-again" name="delivery" value="${webhookId} ${id}${delivery.channel && ' channel'}">${runs.deliverAgain}<span class="vh"> ${context.texts.events.names[event]}</span></button>`
        : EMPTY,
      { class: 'whole' },
    ),
  );
}

function describeAttempt(context: UserPageContext, { at, isSuccess, statusCode, error }: Attempt): string {
  const { runs, formats } = context.texts;
  const without = isSuccess ? runs.accepted : (error ?? runs.noResponse);
  return `${formats.momentLabel(new Date(at), context)}, ${statusCode === null ? without : runs.response(statusCode)}`;
}

function describeNext(context: UserPageContext, { status, nextAttemptAt, digest }: Delivery): string {
  const { runs, deliveries, formats } = context.texts;
  const { status: state, nextAttemptAt: at } = digest ?? { status, nextAttemptAt };
  if (at === null) return '';
  const moment = formats.moment(new Date(at), context);
  if (state === 'pending') return deliveries.nextAttempt(moment);
  return state === 'held' && new Date(at) > context.now ? runs.until(moment) : '';
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
  const { runs } = context.texts;
  const title = attempts > log.length ? runs.lastAttempts(log.length) : runs.allAttempts(attempts);
  return html`<details id="log-${id}"><summary>${title}</summary><ol class="sent">${log.map(
    (attempt) => html`<li>${describeWithError(context, attempt)}</li>`,
  )}</ol></details>`;
}
