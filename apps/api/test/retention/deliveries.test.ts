import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@carillon/contract/primitives';
import { deliveries, deliveryAttempts, users } from '@carillon/db';
import { asc } from 'drizzle-orm';
import t from 'tap';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { postWebhook } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t, { env: { RETENTION_DELIVERIES_DAYS: '7' } });
const ago = (days: number, ms = 0) => new Date(START.getTime() - days * DAY_MS - ms);
let alice: Person;
t.beforeEach(async () => {
  await ctx.db.delete(users);
  alice = await signUp(app);
});

type Row = Partial<typeof deliveries.$inferInsert>;
async function insertDeliveries(webhookId: string, given: readonly Row[]): Promise<string[]> {
  const made = { event: 'test', payload: '{}', requestId: 'r', status: 'failed', createdAt: ago(30) } as const;
  const values = given.map((row) => ({ id: randomUUID(), ...made, endedAt: ago(8), ...row, webhookId }));
  for (let at = 0; at < values.length; at += 1000) await ctx.db.insert(deliveries).values(values.slice(at, at + 1000));
  return values.map(({ id }) => id).sort();
}
const left = async () =>
  (await ctx.db.select({ id: deliveries.id }).from(deliveries).orderBy(asc(deliveries.id))).map(({ id }) => id);

t.test('An ended delivery is stored for the configured days, and longer while the log shows it', async (t) => {
  const { id: webhookId } = await postWebhook(app, alice);
  const pending = { status: 'pending', endedAt: null, nextAttemptAt: START } as const;
  const [logged] = await insertDeliveries(webhookId, [{}]);
  const attempt = { event: 'test', url: 'x', attempt: 1, success: false, responseTimeMs: 1, attemptedAt: ago(8) };
  await ctx.db
    .insert(deliveryAttempts)
    .values({ ...attempt, id: randomUUID(), deliveryId: logged as string, webhookId });
  const kept = await insertDeliveries(webhookId, [{ endedAt: ago(7) }, pending]);
  await insertDeliveries(webhookId, [{ endedAt: ago(7, 1) }, { status: 'delivered' }]);
  await pruneAll(ctx);
  t.same(await left(), [...kept, logged].sort());
});

t.test('Old deliveries are all pruned, with several pruners at once', async (t) => {
  const hooks = await Promise.all([postWebhook(app, alice), postWebhook(app, alice)]);
  await insertDeliveries(hooks[0].id, Array(2500).fill({}));
  await insertDeliveries(hooks[1].id, Array(10).fill({}));
  const [kept] = await insertDeliveries(hooks[1].id, [{ endedAt: ago(1) }]);
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), pruneAll(ctx)]);
  t.same(await left(), [kept]);
});
