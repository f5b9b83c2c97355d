import { deliveries, endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { assertNeedsSession } from '../../support/access.ts';
import {
  callWebhook,
  postWebhook,
  readWebhook,
  recordManyEvents,
  testWebhooks,
  UNKNOWN_WEBHOOK_IDS,
} from '../../support/webhooks.ts';

const { app, ctx, clock, alice, bob, receiver, wakes } = await testWebhooks(t);
const patch = (id: string, payload: object, person = alice) => callWebhook(app, person, 'PATCH', id, '', payload);

t.test('A change sets address, events and description, and nothing else', async (t) => {
  const { id } = await postWebhook(app, alice, { description: 'before' });
  const before = await readWebhook(app, alice, id);
  clock.advance(1000);
  const change = { url: 'https://other.example.com/', events: ['task.failed', 'task.failed'], description: 'after' };
  const answer = await patch(id, change);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, webhook: { ...before, ...change, events: ['task.failed'] } });
  t.same(await readWebhook(app, alice, id), answer.json().webhook);
  t.same((await patch(id, { description: null })).json().webhook.description, null);
  t.same((await patch(id, {})).json().webhook.url, change.url, 'an empty change changes nothing');
});

t.test('A webhook is switched off and on', async (t) => {
  const { id } = await postWebhook(app, alice);
  t.match((await patch(id, { isActive: false })).json().webhook, { isActive: false, status: 'inactive' });
  t.match((await patch(id, { isActive: true })).json().webhook, { isActive: true, status: 'active' });
});

t.test('Switching a failed webhook on clears the failure; no other change does', async (t) => {
  const { id } = await postWebhook(app, alice);
  await ctx.db.update(endpoints).set({ status: 'failed' });
  t.match((await patch(id, { description: 'x' })).json().webhook, { isActive: false, status: 'failed' });
  t.match((await patch(id, { isActive: true })).json().webhook, { isActive: true, status: 'active' });
});

t.test('A webhook that is off gets no events, and its open deliveries wait', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 2);
  await patch(id, { isActive: false });
  await recordManyEvents(ctx, alice.id, 3);
  await createDeliverer(ctx).drain();
  t.equal(receiver.received.length, 0);
  wakes.count = 0;
  await patch(id, { isActive: true });
  t.equal(wakes.count, 1, 'the deliverer is woken');
  await createDeliverer(ctx).drain();
  t.equal(receiver.received.length, 2);
  t.equal(await ctx.db.$count(deliveries, eq(deliveries.status, 'delivered')), 2);
});

t.test('The next attempt goes to a new address with the same bytes', async (t) => {
  const { id } = await postWebhook(app, alice, { url: `${receiver.url}/before` });
  receiver.answer(500);
  await recordManyEvents(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  await patch(id, { url: `${receiver.url}/after` });
  receiver.answer(200);
  clock.advance(60_000);
  await createDeliverer(ctx).drain();
  const [first, second] = receiver.received;
  t.same([first?.path, second?.path], ['/before', '/after']);
  t.same(first?.body, second?.body);
});

t.test('An invalid change is refused by field and changes nothing', async (t) => {
  const { id } = await postWebhook(app, alice);
  const before = await readWebhook(app, alice, id);
  const wrong: [object, string][] = [
    [{ url: 'http://169.254.0.1/' }, 'url'],
    [{ url: null }, 'url'],
    [{ url: 'http://localhost:3000/' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['x'] }, 'events'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ isActive: 'true' }, 'isActive'],
    [{ isActive: null }, 'isActive'],
    [{ status: 'active' }, 'status'],
    [{ secret: 'x' }, 'secret'],
    [{ description: 'good', url: 'http://169.254.0.1/' }, 'url'],
  ];
  for (const [change, field] of wrong) {
    const answer = await patch(id, change);
    t.equal(answer.statusCode, 400, field);
    t.same(Object.keys(answer.json().details), [field]);
  }
  t.same(await readWebhook(app, alice, id), before);
});

t.test("An unknown webhook and a stranger's webhook are not found", async (t) => {
  const { id } = await postWebhook(app, alice);
  t.equal((await patch(id, { isActive: false }, bob)).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS) t.equal((await patch(unknown, {})).statusCode, 404, unknown);
  t.equal((await readWebhook(app, alice, id)).isActive, true);
});

t.test('Changing a webhook needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'PATCH', url: `/api/webhooks/${id}`, payload: {} });
});
