import { deliveries, deliveryAttempts } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { pruneLog } from '../../../src/product/deliveries/queue/log.ts';
import { pruneAll } from '../../../src/product/retention/prune.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { START } from '../../support/context.ts';
import {
  callWebhook,
  postWebhook,
  readDeliveries,
  readLog,
  recordManyEvents,
  testWebhooks,
  UNKNOWN_WEBHOOK_IDS,
} from '../../support/webhooks.ts';

const { app, ctx, clock, alice, bob, receiver, deliver } = await testWebhooks(t);
const logs = async (id: string, query = '') => (await callWebhook(app, alice, 'GET', id, `/logs${query}`)).json();

t.test('The log has one entry per attempt, newest first, with its result', async (t) => {
  const { id, url } = await postWebhook(app, alice, { url: `${receiver.url}/x` });
  receiver.answer(500);
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  clock.advance(60_000);
  receiver.answer(204);
  await deliver();
  const [delivery] = await readDeliveries(ctx, id);
  const { success, logs: entries, pagination } = await logs(id);
  t.equal(success, true);
  t.same(pagination, { total: 2, limit: 50, offset: 0 });
  const common = { webhookId: id, event: 'task.updated', url };
  t.match(entries, [
    { ...common, statusCode: 204, attempt: 2, success: true, timestamp: '2026-11-20T10:01:00.000Z' },
    { ...common, statusCode: 500, attempt: 1, success: false, timestamp: START.toISOString() },
  ]);
  for (const { id: entryId, responseTime } of entries) {
    t.type(entryId, 'string');
    t.ok(Number.isInteger(responseTime) && responseTime >= 0);
  }
  t.not(entries[0].id, entries[1].id);
  const details = entries.map((entry: object) => ({ ...entry, deliveryId: delivery?.id }));
  t.match(await readLog(app, alice, id), [
    { ...details[0], error: null },
    { ...details[1], error: /answered 500/ },
  ]);
  const [foreign] = [await postWebhook(app, alice), await postWebhook(app, bob)];
  for (const [person, webhookId, logId] of [
    [bob, id, entries[0].id],
    [alice, foreign.id, entries[0].id],
    [alice, id, delivery?.id],
    [alice, id, 'x'],
  ] as const) {
    t.equal((await callWebhook(app, person, 'GET', webhookId, `/logs/${logId}`)).statusCode, 404);
  }
});

t.test('The log is paged by 1 to 100 entries, by default 50', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 60);
  await deliver();
  t.equal((await logs(id)).logs.length, 50);
  t.same((await logs(id, '?limit=7&offset=56')).pagination, { total: 60, limit: 7, offset: 56 });
  t.equal((await logs(id, '?limit=7&offset=56')).logs.length, 4);
  t.equal((await logs(id, '?limit=100')).logs.length, 60);
  const paged = [0, 20, 40].map((offset) => logs(id, `?limit=20&offset=${offset}`));
  const ids = (await Promise.all(paged)).flatMap((page) => page.logs.map((entry: { id: string }) => entry.id));
  t.equal(new Set(ids).size, 60, 'pages neither repeat nor leave out');
  for (const query of ['?limit=0', '?limit=1.5', '?limit=x', '?offset=-1']) {
    t.equal((await callWebhook(app, alice, 'GET', id, `/logs${query}`)).statusCode, 400, query);
  }
});

t.test(
  'The log keeps the last 100 attempts and those of open deliveries; delivered ones are deleted with their entries',
  async (t) => {
    const { id } = await postWebhook(app, alice, { url: receiver.url });
    receiver.answer(500);
    await recordManyEvents(ctx, alice.id, 2);
    await deliver();
    receiver.answer(200);
    for (let n = 0; n < 3; n++) {
      clock.advance(1000);
      await recordManyEvents(ctx, alice.id, 50);
      await createDeliverer(ctx).drain();
    }
    t.equal((await logs(id)).pagination.total, 102);
    const last = (await logs(id, '?limit=2&offset=100')).logs;
    t.match(last, [{ statusCode: 500 }, { statusCode: 500 }], 'open deliveries are the oldest');
    t.equal(await ctx.db.$count(deliveryAttempts), 102, 'the rest is deleted');
    t.equal(await ctx.db.$count(deliveries), 102);

    clock.advance(60_000);
    await deliver();
    t.equal((await logs(id)).pagination.total, 100);
    t.equal(await ctx.db.$count(deliveryAttempts), 100);
    t.equal(await ctx.db.$count(deliveries), 100, 'open deliveries have ended, 98 others are left');
  },
);

t.test('The log shows the last 100 attempts even before older ones are deleted', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const stopping = AbortSignal.abort();
  await recordManyEvents(ctx, alice.id, 130);
  const lazy = createDeliverer({ ...ctx, worker: { ...ctx.worker, stopping } });
  await lazy.drain();
  await ctx.db.delete(deliveryAttempts);
  const rows = await readDeliveries(ctx, id);
  await ctx.db.insert(deliveryAttempts).values(
    Array.from({ length: 130 }, (_, n) => ({
      ...{ id: crypto.randomUUID(), deliveryId: rows[n % rows.length]?.id ?? '', webhookId: id, event: 'task.updated' },
      ...{ url: 'x', attempt: 1, success: true, statusCode: 200, responseTimeMs: 1 },
      attemptedAt: new Date(START.getTime() + n),
    })),
  );
  const { logs: shown, pagination } = await logs(id, '?limit=100');
  t.equal(pagination.total, 100);
  t.equal(shown.at(-1).timestamp, new Date(START.getTime() + 30).toISOString());
});

t.test("The logs of an unknown and a stranger's webhook are not found", async (t) => {
  const { id } = await postWebhook(app, alice);
  t.equal((await callWebhook(app, bob, 'GET', id, '/logs')).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS)
    t.equal((await callWebhook(app, alice, 'GET', unknown, '/logs')).statusCode, 404);
  t.same(await readLog(app, alice, id), []);
});

t.test('Reading a log needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'GET', url: `/api/webhooks/${id}/logs` });
});

t.test('A failed delivery stays for 30 days beyond the log, for redelivery', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 3);
  await ctx.db
    .update(deliveries)
    .set({ status: 'failed', endedAt: ctx.now(), nextAttemptAt: null, queuedAt: null })
    .where(eq(deliveries.webhookId, id));
  await pruneLog(ctx, [id]);
  clock.advance(30 * 86_400_000);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(deliveries), 3);
  clock.advance(1);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(deliveries), 0);
});
