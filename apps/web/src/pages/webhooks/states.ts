import type { WebhookStatus } from '@carillon/contract/webhooks/webhooks';
import type { WebActionData } from '../../actions.ts';
import { countWords } from '../../components/format.ts';
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

const STATES: Record<WebhookStatus, { outcome: RunOutcome; text: string }> = {
  active: { outcome: 'ran', text: 'On' },
  inactive: { outcome: 'paused', text: 'Off' },
  failed: { outcome: 'failed', text: 'Off, failed' },
};

export const renderState = (status: WebhookStatus): Html => renderOutcome(STATES[status].outcome, STATES[status].text);

export function describeDelivery({ status, attempt }: Delivery): { outcome: RunOutcome; text: string } {
  switch (status) {
    case 'delivered':
      return attempt > 1 ? { outcome: 'late', text: 'Delivered late' } : { outcome: 'ran', text: 'Delivered' };
    case 'failed':
      return { outcome: 'failed', text: 'Failed' };
    case 'sending':
      return { outcome: 'running', text: 'Sending' };
    case 'pending':
      return { outcome: 'waiting', text: 'Waiting' };
    case 'held':
      return { outcome: 'paused', text: 'Held back' };
    case 'digested':
      return { outcome: 'ran', text: 'In a digest' };
  }
}

export function renderDeliveryState(delivery: Delivery): Html {
  const { outcome, text } = describeDelivery(delivery);
  return renderOutcome(outcome, text);
}

const WORDS: [RunOutcome, string][] = [
  ['ran', 'delivered'],
  ['late', 'delivered late'],
  ['failed', 'failed'],
  ['running', 'on the way'],
];

/** The latest deliveries as a strip. `latest` is newest first. */
export function renderDeliveryStrip(latest: readonly Delivery[]): Html {
  const outcomes = latest.map((delivery) => {
    const { outcome } = describeDelivery(delivery);
    return outcome === 'waiting' || outcome === 'paused' ? 'running' : outcome;
  });
  const counts = WORDS.map(([outcome, words]) => ({ count: outcomes.filter((one) => one === outcome).length, words }));
  const text = counts.filter(({ count }) => count > 0).map(({ count, words }) => `${count} ${words}`);
  const name = `Last ${countWords(latest.length, 'delivery', 'deliveries')}: ${text.join(', ')}`;
  return renderStripOf(outcomes.toReversed(), name);
}

/** Whose webhook it is, where its owner is not the list itself. */
export function renderOwner({ purpose, taskId, taskName }: Webhook): Html | null {
  if (purpose === 'task') return html`of the task <a href="/tasks/${taskId}">${taskName ?? taskId}</a>`;
  if (purpose === 'account') return html`of your <a href="/settings">settings</a>`;
  return null;
}
