import { randomUUID } from 'node:crypto';
import { ALERT_KINDS, endpoints } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import { CHANNEL_SENDERS } from '../../src/product/deliveries/messages/kinds/index.ts';
import type { ChannelMessage } from '../../src/product/deliveries/messages/message.ts';
import { encryptUnindexedSecret } from '../../src/product/deliveries/queue/secret.ts';
import type { ReceivedDelivery } from './servers/receiver.ts';

const KIND = 'mattermost';

/** Replaces a kind by one that sends messages as JSON, and obeys `Retry-After` and 410. */
export function installTestKind(): void {
  CHANNEL_SENDERS[KIND] = {
    title: 'Mattermost',
    fields: ['url'],
    check: () => {},
    show: ({ url = '' }) => ({ shown: {}, url }),
    async send({ http }, { url = '' }, { id, message, signal }) {
      const headers = { 'content-type': 'application/json', 'x-delivery': id };
      const body = JSON.stringify(message);
      const outcome = await http.post({ url, headers, body, keepsAnswer: true, ...(signal && { signal }) });
      const after = 'answer' in outcome ? outcome.answer?.headers['retry-after'] : undefined;
      return { ...outcome, ...(after && { retryAfterMs: Number(after) * 1000 }), isGone: outcome.status === 410 };
    },
  };
}

type NewChannel = Partial<typeof endpoints.$inferInsert>;

/** Inserts a channel, of the test kind by default. Returns its id. */
export async function insertTestChannel(
  ctx: Context,
  userId: number,
  url: string,
  values: NewChannel = {},
  settings: object = {},
): Promise<string> {
  const id = randomUUID();
  const at = { createdAt: ctx.now(), updatedAt: ctx.now() };
  const events = ['execution.completed', 'execution.failed', ...ALERT_KINDS];
  const secret = encryptUnindexedSecret(ctx, id, JSON.stringify({ url, ...settings }));
  const row = { id, userId, purpose: 'channel' as const, kind: KIND, name: 'Team', url, events } as const;
  await ctx.db.insert(endpoints).values({ ...row, ...secret, ...at, ...values });
  return id;
}

export const toMessages = (received: readonly ReceivedDelivery[]): ChannelMessage[] =>
  received.map(({ body }) => JSON.parse(String(body)));
