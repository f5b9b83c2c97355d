import { endpoints } from '@carillon/db';
import t from 'tap';
import { createInstruments } from '../../src/lib/telemetry/instruments.ts';
import { claimDeliveries, FIRST_WEBHOOK } from '../../src/product/deliveries/queue/claim.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { rescueDeliveries } from '../../src/product/deliveries/queue/leases.ts';
import { START, testContext } from '../support/context.ts';
import { passTime } from '../support/leases.ts';
import { readRegistry } from '../support/metrics/scrape.ts';
import { signUpAlice } from '../support/people.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { callWebhook, insertWebhooks, recordManyEvents } from '../support/webhooks.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const receiver = await startReceiver(t);
let instruments = createInstruments();
let hook = '';
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
  receiver.answer(200);
  clock.set(START);
  instruments = createInstruments();
  ctx.metrics = instruments;
  hook = (await insertWebhooks(ctx, alice.id, [receiver.url]))[0]?.id ?? '';
});
const readMetrics = () => readRegistry(instruments.registry);
async function readAttempts() {
  const scrape = await readMetrics();
  return ['delivered', 'refused', 'unanswered'].map((outcome) =>
    scrape.value('carillon_webhook_attempts_total', { outcome }),
  );
}
async function readLag() {
  const scrape = await readMetrics();
  return ['count', 'sum'].map((word) => scrape.value(`carillon_webhook_delivery_lag_seconds_${word}`));
}

t.test('The lag of a delivery is the wait before its first attempt, and retries add nothing', async (t) => {
  await recordManyEvents(ctx, alice.id, 2);
  clock.advance(1500);
  receiver.answer(500);
  await createDeliverer(ctx).drain();
  t.same(await readLag(), [2, 3]);
  clock.advance(60_000);
  receiver.answer(200);
  await createDeliverer(ctx).drain();
  t.same(await readLag(), [2, 3]);
});

t.test('Attempts count by outcome', async (t) => {
  t.same(await readAttempts(), [0, 0, 0], 'each series exists before the first attempt');
  await recordManyEvents(ctx, alice.id, 1);
  for (const answer of [500, 'cut', 200] as const) {
    receiver.answer(answer);
    await createDeliverer(ctx).drain();
    clock.advance(300_000);
  }
  t.same(await readAttempts(), [1, 1, 1]);
});

t.test('A redelivery has a lag of its own', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  clock.advance(3_600_000);
  const log = await callWebhook(app, alice, 'GET', hook, '/logs');
  const again = await callWebhook(app, alice, 'POST', hook, `/logs/${log.json().logs[0].id}/redeliver`);
  t.equal(again.statusCode, 201);
  clock.advance(2000);
  await createDeliverer(ctx).drain();
  t.same(await readLag(), [2, 2]);
});

t.test('A test delivery counts as an attempt without lag', async (t) => {
  t.equal((await callWebhook(app, alice, 'POST', hook, '/test')).statusCode, 200);
  t.same(await readLag(), [1, 0]);
  t.same(await readAttempts(), [1, 0, 0]);
});

t.test('Deliveries of a dead process count as taken over', async (t) => {
  await recordManyEvents(ctx, alice.id, 3);
  await claimDeliveries(ctx, { limit: 2, after: FIRST_WEBHOOK });
  await passTime({ ctx, clock }, ctx.config.executionLeaseMs + 1);
  await rescueDeliveries(ctx);
  t.equal((await readMetrics()).value('carillon_claims_taken_over_total', { kind: 'deliveries' }), 2);
});

t.test('Deliveries in flight are counted', async (t) => {
  receiver.answer('hang');
  await recordManyEvents(ctx, alice.id, 2);
  const deliverer = createDeliverer(ctx, { graceMs: 0 });
  const open = receiver.open;
  deliverer.wake();
  while (receiver.open < open + 2) await new Promise((resolve) => setImmediate(resolve));
  t.equal((await readMetrics()).value('carillon_webhook_deliveries_in_flight'), 2);
  await deliverer.stop();
  t.equal((await readMetrics()).value('carillon_webhook_deliveries_in_flight'), 0);
});
