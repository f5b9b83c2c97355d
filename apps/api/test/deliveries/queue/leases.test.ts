import { connect, deliveries, endpoints } from '@carillon/db';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { attemptDelivery } from '../../../src/product/deliveries/queue/attempt.ts';
import { claimDeliveries, FIRST_WEBHOOK } from '../../../src/product/deliveries/queue/claim.ts';
import { completeAttempts, storeAttempts } from '../../../src/product/deliveries/queue/complete.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import {
  enqueueDueRetries,
  handBackDeliveries,
  renewDeliveries,
  rescueDeliveries,
} from '../../../src/product/deliveries/queue/leases.ts';
import { connectionLost, interruptTransactions } from '../../support/database.ts';
import { passTime } from '../../support/leases.ts';
import { insertWebhooks, readDeliveries, readLog, recordManyEvents, testWebhooks } from '../../support/webhooks.ts';

const { app, ctx, clock, databaseUrl, alice, receiver, wakes } = await testWebhooks(t);
const LEASE_MS = ctx.config.executionLeaseMs;
let hook = '';
t.beforeEach(async () => {
  hook = (await insertWebhooks(ctx, alice.id, [receiver.url]))[0]?.id ?? '';
});
const claim = async () => (await claimDeliveries(ctx, { limit: 10, after: FIRST_WEBHOOK })).claimed;
const states = async () => (await readDeliveries(ctx, hook)).map(({ status }) => status);

t.test('A delivery of a dead process is sent again as the same attempt under the same id', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  const [dead] = await claim();
  t.ok(dead && (await attemptDelivery(ctx, dead)), 'it arrived, but was not stored');
  await passTime({ ctx, clock }, LEASE_MS - 5000);
  t.equal(await rescueDeliveries(ctx), 0, 'not before its lease expires');
  await passTime({ ctx, clock }, 5000);
  wakes.count = 0;
  t.equal(await rescueDeliveries(ctx), 1);
  t.equal(wakes.count, 1);
  await createDeliverer(ctx).drain();
  const [first, second] = receiver.received;
  t.equal(receiver.received.length, 2);
  t.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  t.equal(second?.headers['x-delivery-attempt'], '1');
  t.same(second?.body, first?.body);
  t.same(await states(), ['delivered']);
});

t.test('A process that lost its lease changes nothing', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  const [stalled] = await claim();
  if (!stalled) return t.fail();
  receiver.answer(500);
  const late = await attemptDelivery(ctx, stalled);
  if (!late) return t.fail();
  await passTime({ ctx, clock }, LEASE_MS + 1);
  await rescueDeliveries(ctx);
  const [other] = await claim();
  t.same(await completeAttempts(ctx, [late]), []);
  t.match(await readDeliveries(ctx, hook), [{ status: 'sending', attempt: 0, claimToken: other?.claimToken }]);
  t.same(await readLog(app, alice, hook), []);
  t.same(await renewDeliveries(ctx, [stalled]), new Set());
  await handBackDeliveries(ctx, [stalled]);
  t.same(await states(), ['sending']);
});

t.test('A renewed lease is not taken over', async (t) => {
  await recordManyEvents(ctx, alice.id, 2);
  const mine = await claim();
  await passTime({ ctx, clock }, LEASE_MS - 5000);
  t.same(await renewDeliveries(ctx, mine), new Set(mine.map(({ id }) => id)));
  await passTime({ ctx, clock }, LEASE_MS - 5000);
  t.equal(await rescueDeliveries(ctx), 0);
});

t.test('A rescued delivery to a failed or deleted webhook is not queued again', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  await claim();
  await ctx.db.update(endpoints).set({ status: 'failed' });
  await passTime({ ctx, clock }, LEASE_MS + 1);
  await rescueDeliveries(ctx);
  t.same(await states(), ['failed']);
});

t.test('A process that stops hands back deliveries without a response, and loses nothing', async (t) => {
  await recordManyEvents(ctx, alice.id, 5);
  receiver.answer('hang');
  const stopping = createDeliverer(ctx, { graceMs: 50 });
  stopping.wake();
  while (receiver.open < 3) await new Promise((resolve) => setImmediate(resolve));
  await stopping.stop();
  t.same(await states(), Array(5).fill('pending'));
  t.match(await readDeliveries(ctx, hook), Array(5).fill({ attempt: 0 }), 'it does not count as an attempt');
  stopping.wake();
  receiver.answer(200);
  await createDeliverer(ctx).drain();
  t.same(await states(), Array(5).fill('delivered'));
});

t.test('A process that stops waits for responses', async (t) => {
  await recordManyEvents(ctx, alice.id, 2);
  receiver.answer({ status: 200, delayMs: 100 });
  const stopping = createDeliverer(ctx);
  stopping.wake();
  while (receiver.open < 2) await new Promise((resolve) => setImmediate(resolve));
  await stopping.stop();
  t.same(await states(), Array(2).fill('delivered'));
});

t.test('All due retries are queued, for any number', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  receiver.answer(500);
  await createDeliverer(ctx).drain();
  t.same(await enqueueDueRetries(ctx), { isAnyQueued: false, isAnyHeldDue: false });
  const [one] = await readDeliveries(ctx, hook);
  if (!one) return t.fail();
  const many = Array.from({ length: 4500 }, () => ({ ...one, id: crypto.randomUUID() }));
  for (let at = 0; at < many.length; at += 1500) await ctx.db.insert(deliveries).values(many.slice(at, at + 1500));
  clock.advance(59_999);
  t.same(await enqueueDueRetries(ctx), { isAnyQueued: false, isAnyHeldDue: false });
  clock.advance(1);
  t.same(await enqueueDueRetries(ctx), { isAnyQueued: true, isAnyHeldDue: false });
  t.ok((await readDeliveries(ctx, hook)).every(({ queuedAt }) => queuedAt !== null));
});

t.test('An attempt is stored after any outage of the database, until the process has to stop', async (t) => {
  await recordManyEvents(ctx, alice.id, 1);
  const [claimed] = await claim();
  const attempt = claimed && (await attemptDelivery(ctx, claimed));
  if (!attempt) return t.fail();
  let refusals = 3;
  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const transaction: Context['db']['transaction'] = (work) => {
    refusals -= 1;
    return refusals >= 0 ? Promise.reject(away) : ctx.db.transaction(work);
  };
  const db = new Proxy(ctx.db, { get: (of, name) => (name === 'transaction' ? transaction : Reflect.get(of, name)) });
  await storeAttempts({ ...ctx, db }, [attempt], new AbortController().signal);
  t.same(await states(), ['delivered']);
  refusals = 3;
  await t.rejects(storeAttempts({ ...ctx, db }, [attempt], AbortSignal.abort()), { code: 'ECONNREFUSED' });
});

t.test('An attempt that cannot be stored does not affect the others', async (t) => {
  await recordManyEvents(ctx, alice.id, 3);
  const made = await Promise.all((await claim()).map((one) => attemptDelivery(ctx, one)));
  const attempts = made.flatMap((one, n) => (one ? [n === 1 ? { ...one, error: 'a\u0000b' } : one] : []));
  await storeAttempts(ctx, attempts, new AbortController().signal);
  t.same((await states()).sort(), ['delivered', 'delivered', 'sending'], 'the other is left to its lease');
});

t.test('A delivery holds no connection and no lock of the database while it is sent', async (t) => {
  const { db, close } = connect(databaseUrl, { max: 1 });
  t.teardown(close);
  const narrow = { ...ctx, db };
  await recordManyEvents(ctx, alice.id, 3);
  receiver.answer({ status: 200, delayMs: 100 });
  const drained = createDeliverer(narrow).drain();
  while (receiver.open < 3) await new Promise((resolve) => setImmediate(resolve));
  await db.update(endpoints).set({ description: 'changed meanwhile' });
  t.equal(receiver.open, 3, 'the one connection was free');
  await drained;
});

t.test('Deliveries whose claim was committed without an answer are sent at once, and once', async (t) => {
  await recordManyEvents(ctx, alice.id, 2);
  receiver.received.length = 0;
  let isFirst = true;
  const { db, state } = interruptTransactions(ctx.db, async (transact) => {
    const result = await transact();
    const hasClaimed = (await states()).includes('sending');
    if (!isFirst || !hasClaimed) return result;
    isFirst = false;
    throw connectionLost();
  });
  state.armed = true;
  await createDeliverer({ ...ctx, db }).drain();
  t.strictSame(await states(), ['delivered', 'delivered']);
  t.equal(receiver.received.length, 2);
});
