import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '@carillon/contract/primitives';
import { deliveries, endpoints } from '@carillon/db';
import { and, eq, inArray, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { recordEvents } from '../../../src/platform/events/outbox.ts';
import { attemptDelivery } from '../../../src/product/deliveries/queue/attempt.ts';
import { claimDeliveries, FIRST_WEBHOOK } from '../../../src/product/deliveries/queue/claim.ts';
import { completeAttempts } from '../../../src/product/deliveries/queue/complete.ts';
import { pruneAll } from '../../../src/product/retention/prune.ts';
import { atCommit, inTransaction } from '../../../src/transaction.ts';
import {
  callWebhook,
  connectSecondProcess,
  insertWebhooks,
  readDeliveries,
  readWebhook,
  recordManyEvents,
  testWebhooks,
} from '../../support/webhooks.ts';

const test = await testWebhooks(t, { env: { WEBHOOK_RETRY_DELAYS_MS: '0', RETENTION_DELIVERIES_DAYS: '7' } });
const { app, ctx, clock, alice, receiver, deliver } = test;
const other = connectSecondProcess(t, test);
const event = { kind: 'task.updated', userId: alice.id, data: {} } as const;
t.beforeEach(() => receiver.answer(500));

const countPending = () =>
  ctx.db.$count(
    deliveries,
    and(
      eq(deliveries.status, 'pending'),
      inArray(
        deliveries.webhookId,
        ctx.db.select({ id: endpoints.id }).from(endpoints).where(eq(endpoints.status, 'failed')),
      ),
    ),
  );

/** An advisory lock that no other code takes. */
const GATE = 4711;

const waitAtGate = async (tx: Context) => void (await tx.db.execute(sql`select pg_advisory_xact_lock(${GATE})`));

const isGateWaitedFor = async () => {
  const waiting = await ctx.db.execute(
    sql`select from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`,
  );
  return waiting.length > 0;
};

/** Makes the last attempt of a delivery while another process writes an event for the webhook. */
async function failDuringEvent(): Promise<string> {
  const [{ id } = { id: '' }] = await insertWebhooks(ctx, alice.id, [receiver.url]);
  await recordManyEvents(ctx, alice.id, 1);
  const recording = await ctx.db.transaction(async (holder) => {
    await holder.execute(sql`select pg_advisory_xact_lock(${GATE})`);
    const recording = inTransaction(other, async (tx) => {
      recordEvents(tx, [event]);
      atCommit(tx, waitAtGate, [event]);
    });
    while (!(await isGateWaitedFor())) await delay(10);
    await deliver();
    t.equal((await readWebhook(app, alice, id)).status, 'failed');
    return { ended: recording };
  });
  await recording.ended;
  t.equal(await countPending(), 1);
  return id;
}

t.test('An event that commits after its webhook has failed leaves no pending delivery', async (t) => {
  const id = await failDuringEvent();
  await deliver();
  t.equal(await countPending(), 0);
  t.equal(receiver.received.length, 1, 'it was not sent');
  t.match(await readDeliveries(ctx, id), [{ status: 'failed' }, { status: 'failed', endedAt: ctx.now() }]);
});

t.test('Deliveries that were left when a webhook failed are not sent after it is on again', async (t) => {
  for (const changes of [[true], [false, true]]) {
    const id = await failDuringEvent();
    for (const isActive of changes) {
      t.equal((await callWebhook(app, alice, 'PATCH', id, '', { isActive })).statusCode, 200);
    }
    receiver.received.length = 0;
    await deliver();
    t.equal(receiver.received.length, 0);
    await recordManyEvents(ctx, alice.id, 1);
    await deliver();
    t.equal(receiver.received.length, 1, 'a new event is');
    await ctx.db.delete(endpoints);
  }
});

t.test('None of 100 webhooks that fail while events arrive has a pending delivery', async (t) => {
  const made = await insertWebhooks(ctx, alice.id, Array(100).fill(receiver.url));
  await recordManyEvents(ctx, alice.id, 1);
  const { claimed } = await claimDeliveries(ctx, { limit: 500, after: FIRST_WEBHOOK });
  const attempts = await Promise.all(claimed.map((delivery) => attemptDelivery(ctx, delivery)));
  t.equal(attempts.length, 100);
  let isFailing = true;
  const recording = (async () => {
    while (isFailing) await recordManyEvents(other, alice.id, 1);
  })();
  for (const attempt of attempts) if (attempt) await inTransaction(ctx, (tx) => completeAttempts(tx, [attempt]));
  isFailing = false;
  await recording;
  t.equal(await ctx.db.$count(endpoints, eq(endpoints.status, 'failed')), made.length);
  t.comment(`${await countPending()} deliveries were left`);
  await deliver();
  t.equal(await countPending(), 0);
  t.equal(receiver.received.length, 100);
});

t.test(
  'Pruning ends deliveries that wait for a failed webhook, and those that have long waited for one that is off',
  async (t) => {
    await failDuringEvent();
    await pruneAll(ctx);
    t.equal(await countPending(), 0);

    await ctx.db.delete(endpoints);
    const off = await failDuringEvent();
    await ctx.db.update(endpoints).set({ status: 'inactive' });
    await pruneAll(ctx);
    const states = (await readDeliveries(ctx, off)).map(({ status }) => status);
    t.same(states.sort(), ['failed', 'pending'], 'not before the end of the retention');
    clock.advance(8 * DAY_MS);
    await pruneAll(ctx);
    t.equal(await ctx.db.$count(deliveries, eq(deliveries.status, 'pending')), 0);
  },
);
