import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderDays, renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeEvents } from './events.ts';
import { renderDeliveryState } from './states.ts';

type Shown = WebActionData<'showWebhook'>;
type Delivery = Shown['deliveries'][number];
type Attempt = Delivery['attempts'][number];

/** `Answered 200 in 45 ms`, or why the message was not accepted. Mail servers answer without a status. */
function describeResponse({ deliveries, formats }: Texts, attempt: Attempt): string {
  const { success, statusCode, responseTimeMs, error } = attempt;
  const duration = formats.duration(responseTimeMs);
  if (error !== null && !/^The (receiver|target) answered \d+\.$/.test(error)) return error;
  if (statusCode !== null) return deliveries.answered(statusCode, duration);
  return success ? deliveries.accepted(duration) : deliveries.noResponse(duration);
}

/** The attempts in the order in which they were made. */
export function renderAttempts(context: UserPageContext, attempts: readonly Attempt[]): Html {
  const { texts, timeZone } = context;
  const entries = attempts.toReversed().map((attempt) => {
    const at = new Date(attempt.at);
    return {
      at,
      time: texts.formats.timeWithSeconds(at, timeZone),
      outcome: attempt.success ? ('ran' as const) : ('failed' as const),
      content: html`<p>${texts.webhooks.attempt(attempt.attempt, describeResponse(texts, attempt))}</p>`,
    };
  });
  return renderDays(entries, context);
}

interface Log {
  id: string;
  status: string;
  attempts: readonly Attempt[];
}

/** The last attempt of a delivery with those before it, folded. `next`: what happens after it. */
export function renderLatest(context: UserPageContext, { id, status, attempts }: Log, next: string | null): Html {
  const { texts, timeZone } = context;
  const { deliveries, formats } = texts;
  const [last, ...before] = attempts;
  const after = next !== null && html`<span class="sub">${next}</span>`;
  if (!last) return html`${status === 'failed' ? deliveries.logDeleted : EMPTY}${after}`;
  const earlier =
    before.length > 0 &&
    html`<details id="log-${id}"><summary>${deliveries.earlierAttempts(before.length)}</summary>
<ul class="attempts">${before.map(
      (attempt) =>
        html`<li>${renderIcon(attempt.success ? 'ran' : 'failed')}<span>${formats.timeWithSeconds(new Date(attempt.at), timeZone)} · ${describeResponse(texts, attempt)}</span></li>`,
    )}</ul></details>`;
  return html`${describeResponse(texts, last)}${after}${earlier}`;
}

function describeNext(context: UserPageContext, { status, nextAttemptAt }: Delivery): string | null {
  const { deliveries, formats } = context.texts;
  if (status !== 'pending' || nextAttemptAt === null) return null;
  return deliveries.nextAttempt(formats.momentOn(new Date(nextAttemptAt), context));
}

function renderRedeliver(
  { csrfField, texts }: UserPageContext,
  webhookId: string,
  { id, event, status }: Delivery,
): Html {
  if (status === 'sending' || event === 'test') return EMPTY;
  const text = status === 'pending' ? texts.deliveries.sendNow : texts.deliveries.sendAgain;
  return html`<form method="post" action="/webhooks/${webhookId}/deliveries/${id}/redeliver">${csrfField}<button class="plain">${text}<span class="vh">: ${describeEvents(texts, [event])}</span></button></form>`;
}

/** What was sent, newest first. Nothing can be sent again while the webhook is off. */
export function renderDeliveries(
  context: UserPageContext,
  { id, status }: Shown['webhook'],
  found: readonly Delivery[],
): Html {
  const { texts } = context;
  const { webhooks, deliveries, lists } = texts;
  const columns = [
    { head: webhooks.event },
    { head: deliveries.status },
    { head: deliveries.response },
    { head: html`<span class="vh">${lists.actions}</span>` },
  ];
  const isOn = status === 'active';
  return renderTable(
    webhooks.deliveriesCaption,
    columns,
    found.map((delivery) =>
      renderRow(
        renderRowHead(
          html`<a href="/webhooks/${id}/deliveries/${delivery.id}">${describeEvents(texts, [delivery.event])}</a><span class="sub">${renderMoment(delivery.createdAt, context)}</span>`,
          { class: 'event' },
        ),
        renderCell(renderDeliveryState(texts, delivery)),
        renderCell(renderLatest(context, delivery, describeNext(context, delivery)), isOn ? {} : { class: 'whole' }),
        renderCell(isOn ? renderRedeliver(context, id, delivery) : EMPTY, { class: 'tight' }),
      ),
    ),
  );
}
