import { endpoints, settings, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { recordEvents } from '../../../src/platform/events/outbox.ts';
import { inTransaction } from '../../../src/transaction.ts';
import type { ReceivedDelivery } from '../../support/servers/receiver.ts';
import { postTask, runDue } from '../../support/tasks.ts';
import {
  computeSignature,
  postWebhook,
  readDeliveries,
  readLog,
  recordManyEvents,
  testWebhooks,
} from '../../support/webhooks.ts';

const { app, ctx, clock, alice, bob, receiver, deliver, wakes } = await testWebhooks(t);
t.beforeEach(async () => {
  await ctx.db.delete(tasks);
});

t.test('A delivery has the specified headers and a signature over its bytes', async (t) => {
  // The library compares the timestamp with the real clock.
  clock.set(new Date());
  const { id, secret } = await postWebhook(app, alice, { url: `${receiver.url}/hook?a=b` });
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  const headers = { ...alice.headers, 'x-request-id': 'the-request-that-caused-it' };
  const payload = { name: 'Grüße 🔔', prompt: 'Say "hello".', scheduledFor, recurrence: 'once', timezone: 'UTC' };
  const created = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload });
  await deliver();

  t.equal(receiver.received.length, 1);
  const { path, headers: sent, rawHeaders, body } = receiver.received[0] as ReceivedDelivery;
  t.equal(path, '/hook?a=b');
  const [delivery] = await readDeliveries(ctx, id);
  t.match(sent, {
    'content-type': 'application/json',
    'user-agent': 'Carillon-Webhook/1.0',
    'x-webhook-id': id,
    'x-webhook-signature': computeSignature(secret, body),
    'x-request-id': delivery?.id,
    'x-event-type': 'task.created',
    'x-delivery-attempt': '1',
    'webhook-id': delivery?.id,
    'webhook-timestamp': String(Math.floor(ctx.now().getTime() / 1000)),
  });
  t.notOk('x-previous-attempt' in sent);
  t.ok(rawHeaders.includes('X-Webhook-Signature'), 'names are written as in the specification');
  t.same(new Webhook(secret).verify(body, sent as Record<string, string>), JSON.parse(String(body)));
  t.match(JSON.parse(String(body)), {
    event: 'task.created',
    timestamp: ctx.now().toISOString(),
    webhookId: id,
    userId: alice.id,
    data: { task: { id: created.json().taskId, name: 'Grüße 🔔', prompt: 'Say "hello".', scheduledFor } },
  });
  t.equal(String(body), delivery?.payload, 'what is stored is what is sent');
});

t.test('Every status from 200 to 299 is a success', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  for (const status of [200, 201, 202, 204, 299]) {
    receiver.answer(status);
    await recordManyEvents(ctx, alice.id, 1);
    await deliver();
    clock.advance(1);
    t.match(await readLog(app, alice, id).then(([last]) => last), { statusCode: status, success: true, error: null });
  }
  t.ok((await readDeliveries(ctx, id)).every(({ status }) => status === 'delivered'));
});

t.test('Any other response is a failure, and its log entry says why', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const redirect = { status: 302, headers: { location: `${receiver.url}/elsewhere` } };
  const cases = [
    [redirect, 302, /redirects are not followed/],
    [400, 400, /answered 400/],
    [404, 404, /answered 404/],
    [410, 410, /answered 410/],
    [500, 500, /answered 500/],
    ['cut', null, /no connection .* or it broke/],
  ] as const;
  for (const [reply, statusCode, error] of cases) {
    receiver.answer(reply);
    await recordManyEvents(ctx, alice.id, 1);
    await deliver();
    clock.advance(1);
    const [last] = await readLog(app, alice, id);
    t.match(last, { statusCode, success: false, error, attempt: 1 });
    if (statusCode === null) t.equal(last?.responseTime, 0, 'a failed connection has no duration');
  }
  t.ok(receiver.received.every(({ path }) => path === '/'));
});

t.test('An event goes to every active, subscribed webhook of its owner, and to no other', async (t) => {
  await postWebhook(app, alice, { url: `${receiver.url}/one`, events: ['task.created'] });
  await postWebhook(app, alice, { url: `${receiver.url}/two`, events: ['task.updated', 'task.created'] });
  await postWebhook(app, alice, { url: `${receiver.url}/three`, events: ['task.updated'] });
  await postWebhook(app, bob, { url: `${receiver.url}/bob`, events: ['task.created'] });
  await postTask(app, alice);
  await deliver();
  t.same(receiver.received.map(({ path }) => path).sort(), ['/one', '/two']);
});

t.test('An execution sends task and execution events with the same data at its start and end', async (t) => {
  const kinds = ['task.started', 'task.completed', 'execution.started', 'execution.completed'];
  await postWebhook(app, alice, { url: receiver.url, events: kinds });
  await postTask(app, alice);
  clock.set('2026-11-20T11:00:00.000Z');
  await runDue(ctx);
  await deliver();
  const received = receiver.received.map(({ body }) => JSON.parse(String(body)));
  t.same(received.map(({ event }) => event).sort(), kinds.toSorted());
  const findData = (kind: string) => received.find(({ event }) => event === kind)?.data;
  t.same(findData('task.started'), findData('execution.started'));
  t.same(findData('task.completed'), findData('execution.completed'));
});

t.test('A rolled-back change sends no event, and the worker wakes after the commit', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const event = { kind: 'task.updated' as const, userId: alice.id, data: {} };
  wakes.count = 0;
  await t.rejects(
    inTransaction(ctx, async (tx) => {
      recordEvents(tx, [event]);
      throw new Error('undone');
    }),
  );
  t.equal((await readDeliveries(ctx, id)).length, 0);
  t.equal(wakes.count, 0);
  await inTransaction(ctx, async (tx) => {
    await inTransaction(tx, async (inner) => recordEvents(inner, [event]));
    t.equal(wakes.count, 0, 'an inner transaction is not committed yet');
  });
  t.equal(wakes.count, 1);
  t.equal((await readDeliveries(ctx, id)).length, 1);
  wakes.count = 0;
  await inTransaction(ctx, async (tx) => recordEvents(tx, [{ ...event, kind: 'task.deleted' }]));
  t.equal(wakes.count, 0, 'no webhook subscribes to it');
});

t.test('Deliveries wait in maintenance mode and while their account is deactivated', async (t) => {
  await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 2);
  await ctx.db.update(settings).set({ maintenanceMode: true });
  await deliver();
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  await deliver();
  t.equal(receiver.received.length, 0);
  await ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice.id));
  await deliver();
  t.equal(receiver.received.length, 2);
});

t.test('A delivery whose secret cannot be decrypted fails with that reason, unsent', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await ctx.db.update(endpoints).set({ secretEncrypted: 'v1.lost.AAAA' });
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  t.equal(receiver.received.length, 0);
  t.match(await readLog(app, alice, id), [{ success: false, statusCode: null, error: /Rotate it/ }]);
});
