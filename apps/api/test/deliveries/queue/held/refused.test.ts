import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@carillon/contract/primitives';
import { deliveries, deliveryAttempts, endpoints, notifications } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createDeliverer } from '../../../../src/product/deliveries/queue/deliverer.ts';
import { insertTestChannel, installTestKind } from '../../../support/test-channels.ts';
import { connectSecondProcess, readDeliveries, testWebhooks } from '../../../support/webhooks.ts';

installTestKind();
const env = { WEBHOOK_RETRY_DELAYS_MS: '0,1000,1000,1000,1000,1000', RATE_LIMIT_MULTIPLIER: '1' };
const test = await testWebhooks(t, { env });
const { ctx, clock, alice, receiver, deliver } = test;
const other = connectSecondProcess(t, test);
const tooMany = (after: string) => receiver.answer({ status: 429, headers: { 'retry-after': after } });
const newChannel = (path = '', values = {}) => insertTestChannel(ctx, alice.id, `${receiver.url}${path}`, values);

async function queue(webhookId: string, count: number, event = 'execution.failed'): Promise<void> {
  const data = { task: { id: 1, name: 'News' }, execution: { id: 3, error: 'No answer.' } };
  const payload = JSON.stringify({ event, timestamp: ctx.now().toISOString(), data });
  const at = { nextAttemptAt: ctx.now(), queuedAt: ctx.now(), createdAt: ctx.now() };
  const rows = Array.from({ length: count }, () => ({
    id: randomUUID(),
    webhookId,
    event,
    payload,
    requestId: 'a',
    ...at,
  }));
  await ctx.db.insert(deliveries).values(rows);
}
const deliverTwice = () => Promise.all([createDeliverer(ctx).drain(), createDeliverer(other).drain()]);
const countAttempts = () => ctx.db.$count(deliveryAttempts);

t.test('While a target wants no attempt, what else waits for it waits too, over all processes', async (t) => {
  const [id, unaffected] = [await newChannel('/a'), await newChannel('/b')];
  tooMany('2');
  await queue(id, 50);
  await deliverTwice();
  t.equal(receiver.received.length, 3, 'those that were under way together');
  for (const ms of [500, 500, 999]) {
    clock.advance(ms);
    await queue(id, 1);
    await deliverTwice();
  }
  t.equal(receiver.received.length, 3);
  receiver.answer(200);
  await queue(unaffected, 5);
  await deliverTwice();
  t.equal(receiver.received.length, 8, 'other channels go on');
  clock.advance(60_000);
  await deliverTwice();
  t.equal(receiver.received.length, 3 + 5 + 53);
  t.equal(await countAttempts(), 61, 'each attempt is in the log');
  t.equal(await ctx.db.$count(deliveries, eq(deliveries.status, 'delivered')), 58);
});

t.test('Pauses do not raise the rate of requests to a target', async (t) => {
  const id = await newChannel();
  let answered = 0;
  receiver.answer(() => (++answered % 10 === 0 ? { status: 429, headers: { 'retry-after': '0' } } : 200));
  await queue(id, 300);
  for (let second = 0; second < 60; second++) {
    await deliver();
    clock.advance(1000);
  }
  t.ok(receiver.received.length <= 110, `${receiver.received.length} requests in a minute, of 100 that are allowed`);
  t.ok(receiver.received.length >= 60, `${receiver.received.length} requests`);
});

t.test('A target that asks for more than a day gets the next attempt after a day', async (t) => {
  const id = await newChannel();
  tooMany('999999999');
  await queue(id, 1);
  await deliver();
  t.match(await readDeliveries(ctx, id), [
    { status: 'pending', nextAttemptAt: new Date(ctx.now().getTime() + DAY_MS) },
  ]);
  receiver.answer(200);
  clock.advance(DAY_MS - 1);
  await deliver();
  t.equal(receiver.received.length, 1);
  clock.advance(1);
  await deliver();
  t.match(await readDeliveries(ctx, id), [{ status: 'delivered', attempt: 2 }]);
});

t.test('A retry is not sent in quiet hours, unless it is of an alarm that passes them', async (t) => {
  const quiet = { from: '10:00', to: '12:00', timezone: 'UTC' };
  const ids = [await newChannel('', { quiet }), await newChannel('', { quiet, urgent: true })];
  receiver.answer(500);
  for (const id of ids) await queue(id, 1, 'task.slow');
  await deliver();
  const later = new Date(ctx.now().getTime() + 1000);
  t.match(await readDeliveries(ctx, ids[0] ?? ''), [{ nextAttemptAt: new Date('2026-11-20T12:00:00Z') }]);
  t.match(await readDeliveries(ctx, ids[1] ?? ''), [{ nextAttemptAt: later }]);
});

t.test('A target that is gone fails its channel at once, with all that waits or is held', async (t) => {
  const id = await newChannel();
  await queue(id, 1);
  receiver.answer(410);
  await queue(id, 1);
  await ctx.db
    .update(deliveries)
    .set({ status: 'held', queuedAt: null, nextAttemptAt: new Date(ctx.now().getTime() + 60_000) })
    .where(eq(deliveries.event, 'execution.failed'));
  await queue(id, 1, 'task.slow');
  await deliver();
  t.equal(receiver.received.length, 1);
  t.same(
    (await readDeliveries(ctx, id)).map(({ status }) => status),
    ['failed', 'failed', 'failed'],
  );
  t.match(await ctx.db.select().from(endpoints).where(eq(endpoints.id, id)), [{ status: 'failed' }]);
  t.match(await ctx.db.select().from(notifications), [{ kind: 'channel.failed', message: /410/ }]);
});
