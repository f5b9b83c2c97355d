import { endpoints } from '@carillon/db';
import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { START } from '../../support/context.ts';
import {
  callWebhook,
  connectSecondProcess,
  insertWebhooks,
  readDeliveries,
  recordManyEvents,
  testWebhooks,
} from '../../support/webhooks.ts';

const test = await testWebhooks(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const { app, ctx, clock, alice, receiver } = test;
const proven = { lastAttemptOk: true };
const sent = () => receiver.received.length;

t.test('A webhook gets 100 deliveries a minute over any number of processes; the rest waits', async (t) => {
  const [hook] = await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  await recordManyEvents(ctx, alice.id, 250);
  const processes = [connectSecondProcess(t, test), connectSecondProcess(t, test)];
  const deliver = () => Promise.all(processes.map((process) => createDeliverer(process).drain()));
  const steps = [0, 59_999, 1, 59_999, 1, 60_000];
  const counts = [];
  for (const step of steps) {
    clock.advance(step);
    await deliver();
    counts.push(sent());
  }
  t.same(counts, [100, 100, 200, 200, 250, 250]);
  t.ok(
    (await readDeliveries(ctx, hook?.id ?? '')).every(({ status }) => status === 'delivered'),
    'none is dropped',
  );
  t.equal(
    new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size,
    250,
    'no delivery is sent twice',
  );
});

t.test('The minute of 100 deliveries starts with its first attempt', async (t) => {
  await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  clock.advance(50_000);
  await recordManyEvents(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  clock.advance(59_000);
  await recordManyEvents(ctx, alice.id, 150);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 100);
  clock.advance(1000);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 151);
});

t.test('Retries count in the minute and come first', async (t) => {
  await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  receiver.answer(500);
  await recordManyEvents(ctx, alice.id, 80);
  await createDeliverer(ctx).drain();
  clock.advance(60_000);
  receiver.answer(200);
  await recordManyEvents(ctx, alice.id, 80);
  await createDeliverer(ctx).drain();
  const numbers = receiver.received.slice(80).map(({ headers }) => headers['x-delivery-attempt']);
  t.same(numbers.sort(), [...Array(20).fill('1'), ...Array(80).fill('2')]);
});

t.test('A webhook at its limit delays no other', async (t) => {
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/busy`, `${receiver.url}/quiet`], proven);
  await ctx.db.update(endpoints).set({ windowCount: 100, windowEndsAt: new Date(START.getTime() + 60_000) });
  await recordManyEvents(ctx, alice.id, 3);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 0);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/new`], proven);
  await recordManyEvents(ctx, alice.id, 2);
  await createDeliverer(ctx).drain();
  t.same(
    receiver.received.map(({ path }) => path),
    ['/new', '/new'],
  );
});

t.test('A test counts in the minute but does not wait', async (t) => {
  const [hook] = await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  const id = hook?.id ?? '';
  t.equal((await callWebhook(app, alice, 'POST', id, '/test')).statusCode, 200);
  await recordManyEvents(ctx, alice.id, 120);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 100);
  t.equal((await callWebhook(app, alice, 'POST', id, '/test')).statusCode, 200);
  t.equal(sent(), 101);
});
