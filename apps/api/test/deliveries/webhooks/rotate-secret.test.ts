import { endpoints } from '@carillon/db';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { assertNeedsSession } from '../../support/access.ts';
import type { ReceivedDelivery } from '../../support/servers/receiver.ts';
import {
  callWebhook,
  computeSignature,
  postWebhook,
  recordManyEvents,
  testWebhooks,
  UNKNOWN_WEBHOOK_IDS,
} from '../../support/webhooks.ts';

const { app, ctx, clock, logged, alice, bob, receiver } = await testWebhooks(t);
const HOUR_MS = 3_600_000;
t.beforeEach(async () => {
  // The library compares the timestamp with the real clock.
  clock.set(new Date());
});

const rotate = (id: string, person = alice) => callWebhook(app, person, 'POST', id, '/rotate-secret');
async function rotated(id: string): Promise<string> {
  const answer = await rotate(id);
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json().webhook.secret;
}
async function receive(): Promise<ReceivedDelivery> {
  receiver.received.length = 0;
  await recordManyEvents(ctx, alice.id, 1);
  await createDeliverer(ctx).drain();
  return receiver.received[0] as ReceivedDelivery;
}
/** Whether the library accepts a delivery with the secret. */
function verifies(secret: string, { body, headers }: ReceivedDelivery): boolean {
  // Without the check of the timestamp: the clock of the test may be a day ahead.
  const { sign } = new Webhook(secret);
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const expected = sign.call(new Webhook(secret), String(headers['webhook-id']), at, body);
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

t.test('A secret that is rotated by an id in capitals signs deliveries', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const secret = await rotated(id.toUpperCase());
  t.ok(verifies(secret, await receive()));
  await callWebhook(app, alice, 'DELETE', id);
});

t.test('A rotation shows a new secret once', async (t) => {
  const { id, secret } = await postWebhook(app, alice);
  const answer = await rotate(id);
  t.equal(answer.statusCode, 200);
  const { webhook, ...rest } = answer.json();
  t.same(rest, { success: true });
  t.same(Object.keys(webhook).sort(), ['id', 'secret']);
  t.equal(webhook.id, id);
  t.match(webhook.secret, /^whsec_[A-Za-z0-9]{32}$/);
  t.not(webhook.secret, secret);
  t.notMatch((await callWebhook(app, alice, 'GET', id)).body, /whsec_/);
  t.notMatch(JSON.stringify(logged), webhook.secret.slice(6));
});

t.test('Both secrets sign for 24 hours, then only the new one', async (t) => {
  const { id, secret: before } = await postWebhook(app, alice, { url: receiver.url });
  const after = await rotated(id);
  const first = await receive();
  t.equal(String(first.headers['webhook-signature']).split(' ').length, 2);
  t.ok(verifies(before, first));
  t.ok(verifies(after, first));
  t.ok(new Webhook(after).verify(first.body, first.headers as Record<string, string>));
  t.equal(first.headers['x-webhook-signature'], computeSignature(after, first.body), 'of the new one');

  clock.advance(24 * HOUR_MS - 1);
  t.ok(verifies(before, await receive()));
  clock.advance(1);
  const last = await receive();
  t.notOk(verifies(before, last));
  t.ok(verifies(after, last));
});

t.test('A second rotation keeps only the latest replaced secret', async (t) => {
  const { id, secret: first } = await postWebhook(app, alice, { url: receiver.url });
  const second = await rotated(id);
  const third = await rotated(id);
  const delivery = await receive();
  t.same(
    [first, second, third].map((secret) => verifies(secret, delivery)),
    [false, true, true],
  );
});

t.test('The inbound address changes at once', async (t) => {
  const { id, secret } = await postWebhook(app, alice);
  const after = await rotated(id);
  t.equal((await app.inject(`/api/webhooks/${alice.id}/${secret}`)).statusCode, 404);
  t.equal((await app.inject(`/api/webhooks/${alice.id}/${after}`)).statusCode, 200);
});

t.test('Concurrent rotations leave the webhook with the secret of one of them', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const secrets = await Promise.all(Array.from({ length: 8 }, () => rotated(id)));
  const delivery = await receive();
  t.equal(
    secrets.filter((secret) => delivery.headers['x-webhook-signature'] === computeSignature(secret, delivery.body))
      .length,
    1,
  );
  t.equal(secrets.filter((secret) => verifies(secret, delivery)).length, 2);
});

t.test('A secret that cannot be decrypted is replaced like any other', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await ctx.db.update(endpoints).set({ secretEncrypted: 'v1.lost.AAAA' });
  const after = await rotated(id);
  const delivery = await receive();
  t.ok(verifies(after, delivery));
  t.equal(String(delivery.headers['webhook-signature']).split(' ').length, 1);
});

t.test("An unknown webhook and a stranger's webhook are not found", async (t) => {
  const { id, secret } = await postWebhook(app, alice);
  t.equal((await rotate(id, bob)).statusCode, 404);
  for (const unknown of UNKNOWN_WEBHOOK_IDS) t.equal((await rotate(unknown)).statusCode, 404, unknown);
  t.equal((await app.inject(`/api/webhooks/${alice.id}/${secret}`)).statusCode, 200);
});

t.test('Rotating a secret needs a session', async (t) => {
  const { id } = await postWebhook(app, alice);
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/webhooks/${id}/rotate-secret` });
});
