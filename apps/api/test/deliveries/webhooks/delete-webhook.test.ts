import { deliveries, deliveryAttempts } from '@carillon/db';
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

const { app, ctx, alice, bob, receiver } = await testWebhooks(t);

t.test('Deleting a webhook deletes its deliveries and its log', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer((delivery) => (delivery.body.includes('"n":0') ? 200 : 500));
  await recordManyEvents(ctx, alice.id, 3);
  await createDeliverer(ctx).drain();
  t.equal(await ctx.db.$count(deliveryAttempts), 3);
  const answer = await callWebhook(app, alice, 'DELETE', id);
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { success: true, message: String });
  t.equal((await callWebhook(app, alice, 'GET', id)).statusCode, 404);
  t.equal(await ctx.db.$count(deliveries), 0);
  t.equal(await ctx.db.$count(deliveryAttempts), 0);
  t.equal((await callWebhook(app, alice, 'DELETE', id)).statusCode, 404, 'and only once');
});

t.test('A webhook deleted during an attempt leaves nothing behind', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  receiver.answer({ status: 200, delayMs: 200 });
  await recordManyEvents(ctx, alice.id, 3);
  const drained = createDeliverer(ctx).drain();
  while (receiver.open < 3) await new Promise((resolve) => setImmediate(resolve));
  t.equal((await callWebhook(app, alice, 'DELETE', id)).statusCode, 200);
  await drained;
  t.equal(await ctx.db.$count(deliveries), 0);
  t.equal(await ctx.db.$count(deliveryAttempts), 0);
});

t.test("An unknown webhook and a stranger's webhook are not found", async (t) => {
  const { id } = await postWebhook(app, alice);
  t.equal((await callWebhook(app, bob, 'DELETE', id)).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS)
    t.equal((await callWebhook(app, alice, 'DELETE', unknown)).statusCode, 404);
  t.ok(await readWebhook(app, alice, id));
});

t.test('Deleting a webhook needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'DELETE', url: `/api/webhooks/${id}` });
});
