import type { WebActionData } from '../../actions.ts';
import { countWords, formatDuration, formatMomentInText, formatSeconds } from '../../components/format.ts';
import { renderIcon, renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeEvents } from '../webhooks/events.ts';
import { describeDelivery, renderDeliveryState } from '../webhooks/states.ts';

type Shown = WebActionData<'showChannel'>;
type Delivery = Shown['deliveries'][number];
type Attempt = Delivery['attempts'][number];

const COLUMNS = [
  { head: 'Message' },
  { head: 'State' },
  { head: 'Answer' },
  { head: html`<span class="vh">Do</span>` },
];

/** The text at the top of the message. */
function nameMessage({ event, title }: Delivery): string {
  if (event === 'test') return 'Test';
  if (event === 'digest') return 'Several messages as one';
  if (title !== null) return title;
  return event === 'notification' ? 'Notification' : describeEvents([event]);
}

/** `Answered 200 in 45 ms`, or why it was not accepted. Mail servers answer without a status. */
export function describeAnswer({ success, statusCode, responseTimeMs, error }: Attempt): string {
  if (!success) return error ?? `Answered ${statusCode ?? 'nothing'} in ${formatDuration(responseTimeMs)}`;
  const took = formatDuration(responseTimeMs);
  return statusCode === null ? `Accepted in ${took}` : `Answered ${statusCode} in ${took}`;
}

/** A message in a digest fares as the digest does. */
const renderMessageState = ({ status, attempt, digest }: Delivery): Html =>
  status === 'digested' && digest !== null
    ? renderOutcome(describeDelivery(digest).outcome, 'In a digest')
    : renderDeliveryState({ status, attempt });

/** What happens next, or has happened instead of an attempt. */
function describeWait({ timeZone, now }: UserPageContext, delivery: Delivery): string | null {
  const { status, nextAttemptAt, digest, attempts } = delivery;
  const next = nextAttemptAt === null ? null : formatMomentInText(nextAttemptAt, timeZone, now);
  if (status === 'held') return `held back until ${next}`;
  if (status === 'digested') {
    return `sent with others${digest ? `, ${formatMomentInText(digest.createdAt, timeZone, now)}` : ' as one message'}`;
  }
  return status === 'pending' && next !== null && attempts.length > 0 ? `next attempt ${next}` : null;
}

function renderAnswer(context: UserPageContext, delivery: Delivery): Html {
  const { id, attempts, status } = delivery;
  const [last, ...before] = attempts;
  const wait = describeWait(context, delivery);
  const next = wait !== null && html`<span class="sub">${wait}</span>`;
  if (!last) return html`${status === 'failed' ? 'The log of its attempts was deleted.' : EMPTY}${next}`;
  const earlier =
    before.length > 0 &&
    html`<details id="log-${id}"><summary>${before.length === 1 ? '1 attempt before' : `${before.length} attempts before`}</summary>
<ul class="attempts">${before.map(
      (attempt) =>
        html`<li>${renderIcon(attempt.success ? 'ran' : 'failed')}<span>${formatSeconds(new Date(attempt.at), context.timeZone)} · ${describeAnswer(attempt)}</span></li>`,
    )}</ul></details>`;
  return html`${describeAnswer(last)}${next}${earlier}`;
}

function renderSend({ csrfField }: UserPageContext, channelId: string, delivery: Delivery): Html {
  const { id, event, status } = delivery;
  if (status === 'sending' || status === 'digested' || event === 'test') return EMPTY;
  const text = status === 'pending' || status === 'held' ? 'Send now' : 'Send again';
  return html`<form method="post" action="/channels/${channelId}/deliveries/${id}/redeliver">${csrfField}<button class="plain">${text}<span class="vh">: ${nameMessage(delivery)}</span></button></form>`;
}

function renderTitle(delivery: Delivery): Html {
  const { id, path, items } = delivery;
  const name = nameMessage(delivery);
  const list =
    items.length > 0 &&
    html`<details id="items-${id}"><summary>${countWords(items.length, 'message')}</summary><ul class="attempts">${items.map((item) => html`<li>${item}</li>`)}</ul></details>`;
  return html`${path === null ? html`<b>${name}</b>` : html`<a href="${path}">${name}</a>`}${list}`;
}

/** What was sent, newest first. Nothing can be sent again while the channel is off. */
export const renderMessages = (
  context: UserPageContext,
  { id, status, isConfirmed }: Shown['channel'],
  deliveries: readonly Delivery[],
): Html => {
  const canSend = status === 'active' && isConfirmed;
  return renderTable(
    'Messages, newest first',
    COLUMNS,
    deliveries.map((delivery) =>
      renderRow(
        renderRowHead(
          html`${renderTitle(delivery)}<span class="sub">${renderMoment(delivery.createdAt, context)}</span>`,
          { class: 'event' },
        ),
        renderCell(renderMessageState(delivery)),
        renderCell(renderAnswer(context, delivery), canSend ? {} : { class: 'whole' }),
        renderCell(canSend ? renderSend(context, id, delivery) : EMPTY, { class: 'tight' }),
      ),
    ),
  );
};

/** What is said of messages that were not sent by themselves, if the page shows any. */
export function explainWaits(deliveries: readonly Delivery[]): Html {
  const isHeld = deliveries.some(({ status }) => status === 'held');
  const isDigested = deliveries.some(({ status }) => status === 'digested');
  if (!isHeld && !isDigested) return EMPTY;
  return html`<p class="fine muted after">${
    isHeld &&
    'Held back: the channel is quiet, or has sent something a moment ago. The message is sent at the time beside it. '
  }${isDigested && 'In a digest: the message was sent together with others, which stand in the list as one.'}</p>`;
}
