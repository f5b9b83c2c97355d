import { endpoints } from '@carillon/db';
import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { rescueDeliveries } from '../../../src/product/deliveries/queue/leases.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { passTime } from '../../support/leases.ts';
import { signUpAlice } from '../../support/people.ts';
import { type ReceivedDelivery, startReceiver } from '../../support/servers/receiver.ts';
import {
  callWebhook,
  computeSignature,
  postWebhook,
  readDeliveries,
  readLog,
  readWebhook,
  testWebhooks,
  UNKNOWN_WEBHOOK_IDS,
} from '../../support/webhooks.ts';

const { app, ctx, clock, alice, bob, receiver } = await testWebhooks(t);
const test = (id: string, person = alice) => callWebhook(app, person, 'POST', id, '/test');

t.test('A test is sent at once and answers with its log entry', async (t) => {
  const { id, url, secret } = await postWebhook(app, alice, { url: `${receiver.url}/x`, events: ['task.failed'] });
  const answer = await test(id);
  t.equal(answer.statusCode, 200);
  const { headers, body } = receiver.received[0] as ReceivedDelivery;
  const sent = JSON.parse(String(body));
  t.match(headers, {
    'x-event-type': 'test',
    'x-delivery-attempt': '1',
    'x-webhook-signature': computeSignature(secret, body),
  });
  t.match(sent, { event: 'test', timestamp: START.toISOString(), webhookId: id, userId: alice.id });
  t.same(Object.keys(sent.data).sort(), ['message', 'testId']);
  const { success, delivery } = answer.json();
  t.equal(success, true);
  t.match(delivery, {
    ...{ webhookId: id, event: 'test', url, statusCode: 200, attempt: 1, success: true },
    timestamp: START.toISOString(),
  });
  t.same(await readLog(app, alice, id), [{ ...delivery, deliveryId: headers['webhook-id'], error: null }]);
});

t.test('A failed test is reported, is not retried, and does not fail the webhook', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer(500);
  for (let n = 0; n < 6; n++) {
    const answer = await test(id);
    t.equal(answer.statusCode, 200);
    t.match(answer.json(), { success: false, delivery: { success: false, statusCode: 500 } });
  }
  clock.advance(86_400_000);
  await createDeliverer(ctx).drain();
  t.equal(receiver.received.length, 6);
  t.equal((await readWebhook(app, alice, id)).status, 'active');
});

t.test('A test of an unreachable address has no status', async (t) => {
  const closed = await startReceiver();
  await closed.close();
  const { id } = await postWebhook(app, alice, { url: closed.url });
  t.match((await test(id)).json(), { success: false, delivery: { statusCode: null, responseTime: 0 } });
  t.match(await readLog(app, alice, id), [{ error: /no connection/ }]);
});

t.test('Inactive and failed webhooks can be tested, and keep their state', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  for (const status of ['inactive', 'failed'] as const) {
    await ctx.db.update(endpoints).set({ status });
    t.match((await test(id)).json(), { success: true });
    t.equal((await readWebhook(app, alice, id)).status, status);
  }
});

t.test('A test holds no lock while it is sent, and fails if its process dies', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer({ status: 200, delayMs: 150 });
  const answer = test(id);
  while (receiver.open === 0) await new Promise((resolve) => setImmediate(resolve));
  t.match(await readDeliveries(ctx, id), [{ status: 'sending', event: 'test' }]);
  t.equal(await rescueDeliveries(ctx), 0);
  await passTime({ ctx, clock }, 60_001);
  t.equal(await rescueDeliveries(ctx), 1);
  t.match(await readDeliveries(ctx, id), [{ status: 'failed' }]);
  t.equal((await answer).statusCode, 404, 'its result no longer counts');
});

t.test("An unknown webhook and a stranger's webhook are not found, and nothing is sent", async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  t.equal((await test(id, bob)).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS) t.equal((await test(unknown)).statusCode, 404, unknown);
  t.equal(receiver.received.length, 0);
});

t.test('10 tests a minute may be sent', async (t) => {
  const hurried = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const owner = await signUpAlice(hurried.app);
  const { id } = await postWebhook(hurried.app, owner, { url: receiver.url });
  for (let n = 0; n < 10; n++) t.equal((await callWebhook(hurried.app, owner, 'POST', id, '/test')).statusCode, 200);
  t.equal((await callWebhook(hurried.app, owner, 'POST', id, '/test')).statusCode, 429);
  t.equal(receiver.received.length, 10);
});

t.test('Sending a test needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/webhooks/${id}/test` });
});
