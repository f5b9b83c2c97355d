import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderOutcome } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderLatest } from '../webhooks/deliveries.ts';
import { describeEvents } from '../webhooks/events.ts';
import { describeDelivery, renderDeliveryState } from '../webhooks/states.ts';

type Shown = WebActionData<'showChannel'>;
type Delivery = Shown['deliveries'][number];

/** The text at the top of the message. */
function nameMessage(texts: Texts, { event, title }: Delivery): string {
  const { channels } = texts;
  if (event === 'test') return channels.nameTest;
  if (event === 'digest') return channels.nameDigest;
  if (title !== null) return title;
  return event === 'notification' ? channels.nameNotification : describeEvents(texts, [event]);
}

/** A message in a digest fares as the digest does. */
const renderMessageState = (texts: Texts, { status, attempt, digest }: Delivery): Html =>
  status === 'digested' && digest !== null
    ? renderOutcome(describeDelivery(texts, digest).outcome, texts.deliveries.digested)
    : renderDeliveryState(texts, { status, attempt });

/** What happens next, or has happened instead of an attempt. */
function describeWait(context: UserPageContext, delivery: Delivery): string | null {
  const { channels, deliveries, formats } = context.texts;
  const { status, nextAttemptAt, digest, attempts } = delivery;
  if (status === 'digested') {
    return channels.sentInDigest(digest && formats.momentOn(new Date(digest.createdAt), context));
  }
  if (nextAttemptAt === null) return null;
  const next = new Date(nextAttemptAt);
  if (status === 'held') return channels.heldUntil(formats.moment(next, context));
  return status === 'pending' && attempts.length > 0 ? deliveries.nextAttempt(formats.momentOn(next, context)) : null;
}

function renderSend({ csrfField, texts }: UserPageContext, channelId: string, delivery: Delivery): Html {
  const { id, event, status } = delivery;
  if (status === 'sending' || status === 'digested' || event === 'test') return EMPTY;
  const { sendNow, sendAgain } = texts.deliveries;
  const text = status === 'pending' || status === 'held' ? sendNow : sendAgain;
  return html`<form method="post" action="/channels/${channelId}/deliveries/${id}/redeliver">${csrfField}<button class="plain">${text}<span class="vh">: ${nameMessage(texts, delivery)}</span></button></form>`;
}

function renderTitle(texts: Texts, delivery: Delivery): Html {
  const { id, path, items } = delivery;
  const name = nameMessage(texts, delivery);
  const list =
    items.length > 0 &&
    html`<details id="items-${id}"><summary>${texts.channels.countMessages(items.length)}</summary><ul class="attempts">${items.map((item) => html`<li>${item}</li>`)}</ul></details>`;
  return html`${path === null ? html`<b>${name}</b>` : html`<a href="${path}">${name}</a>`}${list}`;
}

/** What was sent, newest first. Nothing can be sent again while the channel is off. */
export function renderMessages(
  context: UserPageContext,
  { id, status, isConfirmed }: Shown['channel'],
  found: readonly Delivery[],
): Html {
  const { texts } = context;
  const { channels, deliveries, lists } = texts;
  const columns = [
    { head: channels.message },
    { head: deliveries.status },
    { head: deliveries.response },
    { head: html`<span class="vh">${lists.actions}</span>` },
  ];
  const canSend = status === 'active' && isConfirmed;
  return renderTable(
    channels.messagesCaption,
    columns,
    found.map((delivery) =>
      renderRow(
        renderRowHead(
          html`${renderTitle(texts, delivery)}<span class="sub">${renderMoment(delivery.createdAt, context)}</span>`,
          { class: 'event' },
        ),
        renderCell(renderMessageState(texts, delivery)),
        renderCell(renderLatest(context, delivery, describeWait(context, delivery)), canSend ? {} : { class: 'whole' }),
        renderCell(canSend ? renderSend(context, id, delivery) : EMPTY, { class: 'tight' }),
      ),
    ),
  );
}

/** Why messages were not sent by themselves, if the page shows any. */
export function explainWaits({ channels }: Texts, found: readonly Delivery[]): Html {
  const texts = [
    ...(found.some(({ status }) => status === 'held') ? [channels.explainHeld] : []),
    ...(found.some(({ status }) => status === 'digested') ? [channels.explainDigested] : []),
  ];
  return texts.length === 0 ? EMPTY : html`<p class="fine muted after">${texts.join(' ')}</p>`;
}
