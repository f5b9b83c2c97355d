import type { WebActionData } from '../../actions.ts';
import { formatDay, formatDuration, formatMomentInText, formatSeconds } from '../../components/format.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment, renderTimeline, type TimelineEntry } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeEvent, describeEvents } from './events.ts';
import { renderDeliveryState } from './states.ts';

type Shown = WebActionData<'showWebhook'>;
type Delivery = Shown['deliveries'][number];
export type Attempt = Delivery['attempts'][number];

const COLUMNS = [{ head: 'Event' }, { head: 'State' }, { head: 'Answer' }, { head: html`<span class="vh">Do</span>` }];

/** `Answered 200 in 45 ms`, or why there was no answer. */
export function describeAnswer({ statusCode, responseTimeMs, error }: Attempt): string {
  const isPlain = error === null || error === `The receiver answered ${statusCode}.`;
  if (isPlain) return `Answered ${statusCode} in ${formatDuration(responseTimeMs)}`;
  return error;
}

/** The attempts in the order in which they were made. */
export function renderAttempts({ timeZone, now }: UserPageContext, attempts: readonly Attempt[]): Html {
  let day = formatDay(now, timeZone, now);
  const entries = attempts.toReversed().map((attempt): TimelineEntry => {
    const at = new Date(attempt.at);
    const itsDay = formatDay(at, timeZone, now);
    const isNewDay = itsDay !== day;
    day = itsDay;
    return {
      at,
      time: formatSeconds(at, timeZone),
      outcome: attempt.success ? 'ran' : 'failed',
      content: html`<p>Attempt ${attempt.attempt}: ${describeAnswer(attempt)}</p>`,
      day: isNewDay ? itsDay : undefined,
    };
  });
  return renderTimeline(entries);
}

function renderLatest({ timeZone, now }: UserPageContext, { attempts, status, nextAttemptAt }: Delivery): Html {
  const [last, ...before] = attempts;
  const next =
    status === 'pending' &&
    nextAttemptAt !== null &&
    html`<span class="sub">next attempt ${formatMomentInText(nextAttemptAt, timeZone, now)}</span>`;
  if (!last) return html`${status === 'failed' ? 'The log of its attempts was deleted.' : EMPTY}${next}`;
  const earlier =
    before.length > 0 &&
    html`<details><summary>${before.length === 1 ? '1 attempt before' : `${before.length} attempts before`}</summary>
<ul class="attempts">${before.map(
      (attempt) =>
        html`<li>${renderIcon(attempt.success ? 'ran' : 'failed')}<span>${formatSeconds(new Date(attempt.at), timeZone)} · ${describeAnswer(attempt)}</span></li>`,
    )}</ul></details>`;
  return html`${describeAnswer(last)}${next}${earlier}`;
}

function renderRedeliver({ csrfField }: UserPageContext, webhookId: string, { id, event, status }: Delivery): Html {
  if (status === 'sending' || event === 'test') return EMPTY;
  const text = status === 'pending' ? 'Send now' : 'Send again';
  return html`<form method="post" action="/webhooks/${webhookId}/deliveries/${id}/redeliver">${csrfField}<button class="plain">${text}<span class="vh">: ${describeEvent(event)}</span></button></form>`;
}

/** What was sent, newest first. Nothing can be sent again while the webhook is off. */
export const renderDeliveries = (
  context: UserPageContext,
  { id, status }: Shown['webhook'],
  deliveries: readonly Delivery[],
): Html =>
  renderTable(
    'Deliveries, newest first',
    COLUMNS,
    deliveries.map((delivery) =>
      renderRow(
        renderRowHead(
          html`<a href="/webhooks/${id}/deliveries/${delivery.id}">${describeEvents([delivery.event])}</a><span class="sub">${renderMoment(delivery.createdAt, context)}</span>`,
          { class: 'event' },
        ),
        renderCell(renderDeliveryState(delivery)),
        renderCell(renderLatest(context, delivery), status === 'active' ? {} : { class: 'whole' }),
        renderCell(status === 'active' ? renderRedeliver(context, id, delivery) : EMPTY, { class: 'tight' }),
      ),
    ),
  );
