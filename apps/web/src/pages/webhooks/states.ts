import type { WebhookStatus } from '@carillon/contract/webhooks/webhooks';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderOutcome, renderStripOf } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';

type Shown = WebActionData<'showWebhook'>;
type Status = WebActionData<'showChannel'>['deliveries'][number]['status'];
/** Of a webhook or a channel. */
export interface Delivery {
  status: Status;
  attempt: number;
}
export type Webhook = Pick<Shown['webhook'], 'id' | 'purpose' | 'taskId' | 'taskName' | 'url' | 'description'>;

export function renderState({ deliveries }: Texts, status: WebhookStatus): Html {
  switch (status) {
    case 'active':
      return renderOutcome('ran', deliveries.on);
    case 'inactive':
      return renderOutcome('paused', deliveries.off);
    case 'failed':
      return renderOutcome('failed', deliveries.offFailed);
  }
}

export function describeDelivery({ deliveries }: Texts, { status, attempt }: Delivery) {
  const texts: Record<Status, { outcome: RunOutcome; text: string }> = {
    delivered:
      attempt > 1
        ? { outcome: 'late', text: deliveries.deliveredLate }
        : { outcome: 'ran', text: deliveries.delivered },
    failed: { outcome: 'failed', text: deliveries.failed },
    sending: { outcome: 'running', text: deliveries.sending },
    pending: { outcome: 'waiting', text: deliveries.waiting },
    held: { outcome: 'paused', text: deliveries.held },
    digested: { outcome: 'ran', text: deliveries.digested },
  };
  return texts[status];
}

export function renderDeliveryState(texts: Texts, delivery: Delivery): Html {
  const { outcome, text } = describeDelivery(texts, delivery);
  return renderOutcome(outcome, text);
}

/** The latest deliveries as a strip. `latest` is newest first. */
export function renderDeliveryStrip(texts: Texts, latest: readonly Delivery[]): Html {
  const { deliveries } = texts;
  const outcomes = latest.map((delivery) => {
    const { outcome } = describeDelivery(texts, delivery);
    return outcome === 'waiting' || outcome === 'paused' ? 'running' : outcome;
  });
  const counts = [
    ['ran', deliveries.countDelivered],
    ['late', deliveries.countLate],
    ['failed', deliveries.countFailed],
    ['running', deliveries.countPending],
  ] as const;
  const parts = counts.flatMap(([outcome, describe]) => {
    const count = outcomes.filter((one) => one === outcome).length;
    return count > 0 ? [describe(count)] : [];
  });
  return renderStripOf(outcomes.toReversed(), deliveries.latest(latest.length, parts));
}

/** Whose webhook it is, where its owner is not the list itself. */
export function renderOwner({ webhooks }: Texts, { purpose, taskId, taskName }: Webhook): Html | null {
  if (purpose === 'task') return html`${webhooks.ofTask(html`<a href="/tasks/${taskId}">${taskName ?? taskId}</a>`)}`;
  if (purpose === 'account')
    return html`${webhooks.ofSettings((text) => html`<a href="/settings/notifications">${text}</a>`)}`;
  return null;
}
