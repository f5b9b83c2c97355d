import { connect, webhooks } from '@carillon/db';
import t from 'tap';
import type { Config } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import { claimDeliveries, FIRST, LIMITS } from '../../src/webhooks/claim.ts';
import { createDeliverer } from '../../src/webhooks/deliverer.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { startReceiver } from '../support/receiver.ts';
import { callWebhook, insertWebhooks, readDeliveries, recordMany } from '../support/webhooks.ts';

const { app, ctx, clock, databaseUrl } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const alice = await signUpAlice(app);
const receiver = await startReceiver(t);
t.beforeEach(async () => {
  await ctx.db.delete(webhooks);
  receiver.received.length = 0;
  receiver.answer(200);
  clock.set(START);
});
const proven = { lastAttemptOk: true };
/** Another process: the same database and clock, with a pool of its own. */
function newProcess(t: { teardown(work: () => Promise<void>): unknown }, config: Partial<Config> = {}): Context {
  const { db, close } = connect(databaseUrl, { max: 4 });
  t.teardown(close);
  return { ...ctx, db, config: { ...ctx.config, ...config } };
}
const sent = () => receiver.received.length;

t.test(
  'a webhook is sent 100 deliveries a minute, over any number of processes; the rest waits for the next',
  async (t) => {
    const [hook] = await insertWebhooks(ctx, alice.id, [receiver.url], proven);
    await recordMany(ctx, alice.id, 250);
    const processes = [newProcess(t), newProcess(t)];
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
    t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 250, 'none is sent twice');
  },
);

t.test('the minute begins with its first delivery', async (t) => {
  await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  clock.advance(50_000);
  await recordMany(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  clock.advance(59_000);
  await recordMany(ctx, alice.id, 150);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 100);
  clock.advance(1000);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 151);
});

t.test('retries count like any attempt, and come first', async (t) => {
  await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  receiver.answer(500);
  await recordMany(ctx, alice.id, 80);
  await createDeliverer(ctx).drain();
  clock.advance(60_000);
  receiver.answer(200);
  await recordMany(ctx, alice.id, 80);
  await createDeliverer(ctx).drain();
  const numbers = receiver.received.slice(80).map(({ headers }) => headers['x-delivery-attempt']);
  t.same(numbers.sort(), [...Array(20).fill('1'), ...Array(80).fill('2')]);
});

t.test('one webhook at its limit delays no other', async (t) => {
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/busy`, `${receiver.url}/quiet`], proven);
  await ctx.db.update(webhooks).set({ windowCount: 100, windowEndsAt: new Date(START.getTime() + 60_000) });
  await recordMany(ctx, alice.id, 3);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 0);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/new`], proven);
  await recordMany(ctx, alice.id, 2);
  await createDeliverer(ctx).drain();
  t.same(
    receiver.received.map(({ path }) => path),
    ['/new', '/new'],
  );
});

t.test('a test takes a place of the minute but does not wait for one', async (t) => {
  const [hook] = await insertWebhooks(ctx, alice.id, [receiver.url], proven);
  const id = hook?.id ?? '';
  t.equal((await callWebhook(app, alice, 'POST', id, '/test')).statusCode, 200);
  await recordMany(ctx, alice.id, 120);
  await createDeliverer(ctx).drain();
  t.equal(sent(), 100);
  t.equal((await callWebhook(app, alice, 'POST', id, '/test')).statusCode, 200);
  t.equal(sent(), 101);
});

t.test('over all processes no more than the global number are under way', async (t) => {
  const urls = Array.from({ length: 30 }, (_, n) => `${receiver.url}/${n}`);
  await insertWebhooks(ctx, alice.id, urls, proven);
  await recordMany(ctx, alice.id, 4);
  receiver.answer({ status: 200, delayMs: 20 });
  const before = receiver.mostOpen;
  const limits = { ...LIMITS, global: 7 };
  const deliverers = [1, 2].map(() => createDeliverer(newProcess(t), { limits }));
  while (sent() < 120) await Promise.all(deliverers.map((deliverer) => deliverer.drain()));
  t.ok(before <= 7 && receiver.mostOpen <= 7, `${receiver.mostOpen} at most`);
  t.ok(receiver.mostOpen > 3);
  t.equal(sent(), 120);
});

t.test(
  'a process has no more than WEBHOOK_CONCURRENCY under way, as long as answers come within a second',
  async (t) => {
    const own = await startReceiver(t);
    own.answer({ status: 200, delayMs: 30 });
    const urls = Array.from({ length: 20 }, (_, n) => `${own.url}/${n}`);
    await insertWebhooks(ctx, alice.id, urls, proven);
    await recordMany(ctx, alice.id, 2);
    await createDeliverer(newProcess(t, { webhookConcurrency: 4 })).drain();
    t.equal(own.received.length, 40);
    t.equal(own.mostOpen, 4);
  },
);

t.test('a receiver that answers is sent 10 at once, any other 3', async (t) => {
  const claims = { limit: 50, after: FIRST };
  for (const [lastAttemptOk, most] of [
    [true, 10],
    [null, 3],
    [false, 3],
  ] as const) {
    await ctx.db.delete(webhooks);
    await insertWebhooks(ctx, alice.id, [receiver.url], { lastAttemptOk });
    await recordMany(ctx, alice.id, 40);
    t.equal((await claimDeliveries(ctx, claims)).claimed.length, most);
    t.equal((await claimDeliveries(ctx, claims)).claimed.length, 0, 'and no more meanwhile');
  }
});

t.test('receivers that fail leave places for those that do not', async (t) => {
  const limits = { ...LIMITS, global: 10, failing: 5 };
  await insertWebhooks(ctx, alice.id, Array(8).fill(receiver.url), { lastAttemptOk: false });
  await recordMany(ctx, alice.id, 3);
  const first = await claimDeliveries(ctx, { limit: 5, after: FIRST, limits });
  t.equal(first.claimed.length, 5);
  t.equal((await claimDeliveries(ctx, { limit: 50, after: FIRST, limits })).claimed.length, 0);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/good`], proven);
  await insertWebhooks(ctx, alice.id, [`${receiver.url}/new`]);
  await recordMany(ctx, alice.id, 9);
  const { claimed } = await claimDeliveries(ctx, { limit: 50, after: FIRST, limits });
  t.equal(claimed.length, 5);
  t.ok(claimed.every(({ url }) => url.endsWith('/good') || url.endsWith('/new')));
});

t.test('claims go round the webhooks: a backlog of one delays the others by a turn', async (t) => {
  const made = await insertWebhooks(ctx, alice.id, [`${receiver.url}/backlog`], proven);
  await recordMany(ctx, alice.id, 90);
  made.push(
    ...(await insertWebhooks(
      ctx,
      alice.id,
      Array.from({ length: 9 }, (_, n) => `${receiver.url}/${n}`),
      proven,
    )),
  );
  await recordMany(ctx, alice.id, 1);
  const turns = [];
  let after = FIRST;
  for (let n = 0; n < 12; n++) {
    const claim = await claimDeliveries(ctx, { limit: 2, after });
    turns.push(...claim.claimed.map(({ webhookId }) => webhookId));
    after = claim.next;
  }
  t.equal(new Set(turns).size, 10, 'within one round each has had its turn');
  t.ok(turns.filter((id) => id === made[0]?.id).length <= 10);
});
