import { endpoints } from '@carillon/db';
import t from 'tap';
import { claimDeliveries, DELIVERY_LIMITS, FIRST_WEBHOOK } from '../../../src/product/deliveries/queue/claim.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { START } from '../../support/context.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { connectSecondProcess, insertWebhooks, recordManyEvents, testWebhooks } from '../../support/webhooks.ts';

const test = await testWebhooks(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const { ctx, alice, receiver } = test;
const proven = { lastAttemptOk: true };
const sent = () => receiver.received.length;

t.test('No more deliveries than the total limit are in progress over all processes', async (t) => {
  const urls = Array.from({ length: 30 }, (_, n) => `${receiver.url}/${n}`);
  await insertWebhooks(ctx, alice.id, urls, proven);
  await recordManyEvents(ctx, alice.id, 4);
  receiver.answer({ status: 200, delayMs: 20 });
  const before = receiver.mostOpen;
  const limits = { ...DELIVERY_LIMITS, total: 7 };
  const deliverers = [1, 2].map(() => createDeliverer(connectSecondProcess(t, test), { limits }));
  while (sent() < 120) await Promise.all(deliverers.map((deliverer) => deliverer.drain()));
  t.ok(before <= 7 && receiver.mostOpen <= 7, `${receiver.mostOpen} at most`);
  t.ok(receiver.mostOpen > 3);
  t.equal(sent(), 120);
});

t.test('Concurrent claims of several processes keep to the total limit', async (t) => {
  const processes = [connectSecondProcess(t, test), connectSecondProcess(t, test), connectSecondProcess(t, test)];
  const limits = { ...DELIVERY_LIMITS, total: 7 };
  for (let round = 0; round < 10; round++) {
    await ctx.db.delete(endpoints);
    await insertWebhooks(ctx, alice.id, Array(30).fill(receiver.url), proven);
    await recordManyEvents(ctx, alice.id, 4);
    const claims = processes.map((process) => claimDeliveries(process, { limit: 50, after: FIRST_WEBHOOK, limits }));
    const counts = (await Promise.all(claims)).map(({ claimed }) => claimed.length);
    t.same(counts.toSorted(), [0, 0, 7]);
  }
});

t.test('A claim looks at a bounded number of webhooks, and the next one continues from there', async (t) => {
  const full = { windowCount: 100, windowEndsAt: new Date(START.getTime() + 60_000) };
  await insertWebhooks(ctx, alice.id, Array(25).fill(receiver.url), { ...proven, ...full });
  await insertWebhooks(ctx, alice.id, Array(3).fill(`${receiver.url}/free`), proven);
  await recordManyEvents(ctx, alice.id, 1);
  const limits = { ...DELIVERY_LIMITS, webhooksPerClaim: 10 };
  const found = [];
  let after = FIRST_WEBHOOK;
  let claims = 0;
  do {
    const { claimed, next } = await claimDeliveries(ctx, { limit: 50, after, limits });
    found.push(...claimed);
    after = next;
    claims += 1;
  } while (after !== FIRST_WEBHOOK);
  t.equal(claims, 3);
  t.equal(found.length, 3);
  await createDeliverer(ctx, { limits }).drain();
});

t.test('A process has at most WEBHOOK_CONCURRENCY deliveries in progress while responses are fast', async (t) => {
  const own = await startReceiver(t);
  own.answer({ status: 200, delayMs: 30 });
  const urls = Array.from({ length: 20 }, (_, n) => `${own.url}/${n}`);
  await insertWebhooks(ctx, alice.id, urls, proven);
  await recordManyEvents(ctx, alice.id, 2);
  await createDeliverer(connectSecondProcess(t, test, { webhookConcurrency: 4 })).drain();
  t.equal(own.received.length, 40);
  t.equal(own.mostOpen, 4);
});

t.test('A webhook whose latest attempt succeeded gets 10 deliveries at once, any other 3', async (t) => {
  const claims = { limit: 50, after: FIRST_WEBHOOK };
  for (const [lastAttemptOk, most] of [
    [true, 10],
    [null, 3],
    [false, 3],
  ] as const) {
    await ctx.db.delete(endpoints);
    await insertWebhooks(ctx, alice.id, [receiver.url], { lastAttemptOk });
    await recordManyEvents(ctx, alice.id, 40);
    t.equal((await claimDeliveries(ctx, claims)).claimed.length, most);
    t.equal((await claimDeliveries(ctx, claims)).claimed.length, 0, 'no more until one ends');
  }
});

t.test('Failing webhooks leave slots for the others', async (t) => {
  const limits = { ...DELIVERY_LIMITS, total: 10, failing: 5 };
  await insertWebhooks(ctx, alice.id, Array(8).fill(receiver.url), { lastAttemptOk: false });
  await recordManyEvents(ctx, alice.id, 3);
  const first = await claimDeliveries(ctx, { limit: 5, after: FIRST_WEBHOOK, limits });
  t.equal(first.claimed.length, 5);
  t.equal((await claimDeliveries(ctx, { limit: 50, after: FIRST_WEBHOOK, limits })).claimed.length, 0);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/good`], proven);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/new`]);
  await recordManyEvents(ctx, alice.id, 9);
  const { claimed } = await claimDeliveries(ctx, { limit: 50, after: FIRST_WEBHOOK, limits });
  t.equal(claimed.length, 5);
  t.ok(claimed.every(({ url }) => url.endsWith('/good') || url.endsWith('/new')));
});

t.test('Claims go round the webhooks: a long queue delays the others by one round', async (t) => {
  const made = await insertWebhooks(ctx, alice.id, [`${receiver.url}/backlog`], proven);
  await recordManyEvents(ctx, alice.id, 90);
  made.push(
    ...(await insertWebhooks(
      ctx,
      alice.id,
      Array.from({ length: 9 }, (_, n) => `${receiver.url}/${n}`),
      proven,
    )),
  );
  await recordManyEvents(ctx, alice.id, 1);
  const turns = [];
  let after = FIRST_WEBHOOK;
  for (let n = 0; n < 12; n++) {
    const claim = await claimDeliveries(ctx, { limit: 2, after });
    turns.push(...claim.claimed.map(({ webhookId }) => webhookId));
    after = claim.next;
  }
  t.equal(new Set(turns).size, 10, 'each webhook was claimed within one round');
  t.ok(turns.filter((id) => id === made[0]?.id).length <= 10);
});
