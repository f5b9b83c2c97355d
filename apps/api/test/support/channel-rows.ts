import { randomUUID } from 'node:crypto';
import { ALERT_KINDS, endpoints } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import { encryptUnindexedSecret } from '../../src/product/deliveries/queue/secret.ts';

type Row = typeof endpoints.$inferInsert;

/** A channel as it is stored; ntfy by default. Returns its id. */
export async function insertChannel(ctx: Context, userId: number, columns: Partial<Row> = {}): Promise<string> {
  const id = randomUUID();
  const now = ctx.now();
  await ctx.db.insert(endpoints).values({
    id,
    userId,
    purpose: 'channel',
    kind: 'ntfy',
    name: 'Phone',
    url: 'https://ntfy.example.com',
    shownSettings: { topic: 'news' },
    events: ['execution.completed', 'execution.failed', ...ALERT_KINDS],
    ...encryptUnindexedSecret(ctx, id, JSON.stringify({ topic: 'news' })),
    createdAt: now,
    updatedAt: now,
    ...columns,
  });
  return id;
}
