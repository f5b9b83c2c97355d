import { endpoints } from '@carillon/db';
import t from 'tap';
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

const { app, ctx, clock, alice, bob, receiver, deliver, wakes } = await testWebhooks(t);
const redeliver = (id: string, delivery: string, person = alice) =>
  callWebhook(app, person, 'POST', id, `/logs/${delivery}/redeliver`);
const since = (id: string, at: string, person = alice) =>
  callWebhook(app, person, 'POST', id, '/redeliver', { since: at });
/** Makes all five attempts of the open deliveries fail. */
async function failAll() {
  receiver.answer(500);
  for (const wait of [0, 60_000, 300_000, 900_000, 3_600_000]) {
    clock.advance(wait);
    await deliver();
  }
  receiver.answer(200);
}
const activate = (id: string) => callWebhook(app, alice, 'PATCH', id, '', { isActive: true });

t.test('A redelivery sends the same bytes under the same id, from attempt 1', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  const [entry] = await readLog(app, alice, id);
  for (const given of [entry?.id, entry?.deliveryId]) {
    clock.advance(1000);
    wakes.count = 0;
    const answer = await redeliver(id, given ?? '');
    t.equal(answer.statusCode, 201);
    t.same(answer.json(), { success: true, deliveryId: entry?.deliveryId });
    t.equal(wakes.count, 1);
    await deliver();
  }
  const [first, ...again] = receiver.received;
  t.equal(again.length, 2);
  for (const { body, headers } of again) {
    t.same(body, first?.body);
    t.equal(headers['webhook-id'], first?.headers['webhook-id']);
    t.equal(headers['x-delivery-attempt'], '1');
    t.notOk('x-previous-attempt' in headers);
  }
  t.equal((await readLog(app, alice, id)).length, 3);
});

t.test('A redelivery has five attempts again', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  await failAll();
  await activate(id);
  const [entry] = await readLog(app, alice, id);
  t.equal((await redeliver(id, entry?.deliveryId ?? '')).statusCode, 201);
  receiver.received.length = 0;
  await failAll();
  t.same(
    receiver.received.map(({ headers }) => headers['x-delivery-attempt']),
    ['1', '2', '3', '4', '5'],
  );
});

t.test('A delivery that waits for its retry is sent at once, as that attempt', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer(500);
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  receiver.answer(200);
  const [entry] = await readLog(app, alice, id);
  t.equal((await redeliver(id, entry?.id ?? '')).statusCode, 201);
  await deliver();
  t.equal(receiver.received.at(-1)?.headers['x-delivery-attempt'], '2');
  t.match(await readDeliveries(ctx, id), [{ status: 'delivered', attempt: 2 }]);
});

t.test('A delivery that is being sent does not change', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer({ status: 200, delayMs: 150 });
  await recordManyEvents(ctx, alice.id, 1);
  const delivered = deliver();
  while (receiver.open === 0) await new Promise((resolve) => setImmediate(resolve));
  const [delivery] = await readDeliveries(ctx, id);
  t.same((await redeliver(id, delivery?.id ?? '')).json(), { success: true, deliveryId: delivery?.id });
  await delivered;
  t.equal(receiver.received.length, 1);
  t.match(await readDeliveries(ctx, id), [{ status: 'delivered' }]);
});

t.test('All deliveries that failed since an instant are sent again, once', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  await failAll();
  await activate(id);
  clock.set('2026-11-21T10:00:00.000Z');
  const reopened = ctx.now().toISOString();
  await recordManyEvents(ctx, alice.id, 3);
  await failAll();
  // Deliveries that waited when the webhook failed have failed unsent.
  await activate(id);
  await callWebhook(app, alice, 'POST', id, '/test');
  receiver.answer(500);
  await callWebhook(app, alice, 'POST', id, '/test');
  receiver.answer(200);
  receiver.received.length = 0;

  const answer = await since(id, reopened);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, count: 3 });
  t.same((await since(id, reopened)).json(), { success: true, count: 0 }, 'a second request sends nothing');
  await deliver();
  t.equal(receiver.received.length, 3);
  t.same((await since(id, '2026-11-20T00:00:00+02:00')).json().count, 1, 'and the day before there was one');
});

t.test('Deliveries that ended unsent when the webhook failed are redelivered too', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  receiver.answer(500);
  for (const wait of [0, 60_000, 300_000, 900_000]) {
    clock.advance(wait);
    await deliver();
  }
  const own = { ...ctx, config: { ...ctx.config, webhookRetryDelaysMs: [7_200_000, 0, 0, 0, 0] } };
  await recordManyEvents(own, alice.id, 4);
  clock.advance(3_600_000);
  await deliver();
  t.equal(receiver.received.length, 5);
  receiver.answer(200);
  await activate(id);
  t.equal((await since(id, START.toISOString())).json().count, 5);
  await deliver();
  t.equal(receiver.received.length, 10);
});

t.test('Redelivery to an inactive webhook is refused', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  const [entry] = await readLog(app, alice, id);
  for (const status of ['inactive', 'failed'] as const) {
    await ctx.db.update(endpoints).set({ status });
    for (const answer of [await redeliver(id, entry?.id ?? ''), await since(id, START.toISOString())]) {
      t.equal(answer.statusCode, 409);
      t.match(answer.json(), { success: false, error: /not active/ });
    }
  }
});

t.test('since must be an instant', async (t) => {
  const { id } = await postWebhook(app, alice);
  for (const payload of [{}, { since: 'yesterday' }, { since: 5 }, { since: null }, { since: START, all: true }]) {
    const answer = await callWebhook(app, alice, 'POST', id, '/redeliver', payload);
    t.equal(answer.statusCode, 400, JSON.stringify(payload));
  }
});

t.test("An unknown delivery, another webhook's and a stranger's are not found", async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const { id: other } = await postWebhook(app, alice, { url: receiver.url, events: ['task.failed'] });
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  const [entry] = await readLog(app, alice, id);
  t.equal((await redeliver(id, entry?.id ?? '', bob)).statusCode, 404);
  t.equal((await since(id, START.toISOString(), bob)).statusCode, 404);
  t.equal((await redeliver(other, entry?.id ?? '')).statusCode, 404);
  t.equal((await redeliver(other, entry?.deliveryId ?? '')).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS) {
    t.equal((await redeliver(id, unknown)).statusCode, 404, unknown);
    t.equal((await since(unknown, START.toISOString())).statusCode, 404, unknown);
  }
  await deliver();
  t.equal(receiver.received.length, 1);
});

t.test('Redelivery needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/webhooks/${id}/redeliver`, payload: { since: START } });
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/webhooks/${id}/logs/${id}/redeliver` });
});
