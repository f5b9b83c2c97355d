import type { WebhookStatus } from '@carillon/contract/webhooks/webhooks';
import type { WebActionData } from '../../actions.ts';
import { type Fate, renderFate, renderStripOf } from '../../components/fates.ts';
import { countWords } from '../../components/format.ts';
import { type Html, html } from '../../html.ts';

type Shown = WebActionData<'showWebhook'>;
type Status = WebActionData<'showChannel'>['deliveries'][number]['status'];
/** Of a webhook or a channel. */
export interface Delivery {
  status: Status;
  attempt: number;
}
export type Webhook = Pick<Shown['webhook'], 'id' | 'purpose' | 'taskId' | 'taskName' | 'url' | 'description'>;

const STATES: Record<WebhookStatus, { fate: Fate; text: string }> = {
  active: { fate: 'ran', text: 'On' },
  inactive: { fate: 'paused', text: 'Off' },
  failed: { fate: 'failed', text: 'Off, failed' },
};

export const renderState = (status: WebhookStatus): Html => renderFate(STATES[status].fate, STATES[status].text);

export function describeDelivery({ status, attempt }: Delivery): { fate: Fate; text: string } {
  switch (status) {
    case 'delivered':
      return attempt > 1 ? { fate: 'late', text: 'Delivered late' } : { fate: 'ran', text: 'Delivered' };
    case 'failed':
      return { fate: 'failed', text: 'Failed' };
    case 'sending':
      return { fate: 'running', text: 'Sending' };
    case 'pending':
      return { fate: 'waiting', text: 'Waiting' };
    case 'held':
      return { fate: 'paused', text: 'Held back' };
    case 'digested':
      return { fate: 'ran', text: 'In a digest' };
  }
}

export function renderDeliveryState(delivery: Delivery): Html {
  const { fate, text } = describeDelivery(delivery);
  return renderFate(fate, text);
}

const WORDS: [Fate, string][] = [
  ['ran', 'delivered'],
  ['late', 'delivered late'],
  ['failed', 'failed'],
  ['running', 'on the way'],
];

/** The latest deliveries as a strip. `latest` is newest first. */
export function renderDeliveryStrip(latest: readonly Delivery[]): Html {
  const fates = latest.map((delivery) => {
    const { fate } = describeDelivery(delivery);
    return fate === 'waiting' || fate === 'paused' ? 'running' : fate;
  });
  const counts = WORDS.map(([fate, words]) => ({ count: fates.filter((one) => one === fate).length, words }));
  const text = counts.filter(({ count }) => count > 0).map(({ count, words }) => `${count} ${words}`);
  const name = `Last ${countWords(latest.length, 'delivery', 'deliveries')}: ${text.join(', ')}`;
  return renderStripOf(fates.toReversed(), name);
}

/** Whose webhook it is, where its owner is not the list itself. */
export function renderOwner({ purpose, taskId, taskName }: Webhook): Html | null {
  if (purpose === 'task') return html`of the task <a href="/tasks/${taskId}">${taskName ?? taskId}</a>`;
  if (purpose === 'account') return html`of your <a href="/settings">settings</a>`;
  return null;
}
