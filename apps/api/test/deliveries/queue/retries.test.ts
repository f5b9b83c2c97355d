import { mails, notifications } from '@carillon/db';
import t from 'tap';
import { decryptBody } from '../../../src/lib/mail/queue.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import {
  callWebhook,
  postWebhook,
  readDeliveries,
  readLog,
  readWebhook,
  recordManyEvents,
  testWebhooks,
} from '../../support/webhooks.ts';

const { app, ctx, clock, alice, receiver, deliver } = await testWebhooks(t);
t.beforeEach(async () => {
  await ctx.db.delete(notifications);
  await ctx.db.delete(mails);
  receiver.answer(500);
});
const WAITS = [0, 60_000, 300_000, 900_000, 3_600_000];

t.test('Attempts are made after 0, 1, 5, 15 and 60 minutes, with the same bytes under the same id', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  const madeAt: string[] = [];
  for (const [n, wait] of WAITS.entries()) {
    if (wait > 0) {
      clock.advance(wait - 1);
      await deliver();
      t.equal(receiver.received.length, n, 'not a millisecond early');
      clock.advance(1);
    }
    await deliver();
    madeAt.push(ctx.now().toISOString());
  }
  clock.advance(86_400_000);
  await deliver();
  t.equal(receiver.received.length, 5, 'there is no sixth attempt');

  const [first] = receiver.received;
  for (const [n, { headers, body }] of receiver.received.entries()) {
    t.equal(headers['x-delivery-attempt'], String(n + 1));
    t.equal(headers['x-previous-attempt'], n === 0 ? undefined : madeAt[n - 1]);
    t.equal(headers['webhook-id'], first?.headers['webhook-id']);
    t.equal(headers['x-webhook-signature'], first?.headers['x-webhook-signature']);
    t.equal(headers['webhook-timestamp'], String(Date.parse(madeAt[n] ?? '') / 1000), 'signed again each time');
    t.same(body, first?.body);
  }
  const log = await readLog(app, alice, id);
  t.same(
    log.map(({ attempt, timestamp }) => [attempt, timestamp]),
    madeAt.map((at, n) => [n + 1, at]).toReversed(),
    'each attempt is an entry of the log',
  );
});

t.test('A success ends the attempts', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  await deliver();
  clock.advance(60_000);
  receiver.answer(204);
  await deliver();
  clock.advance(86_400_000);
  await deliver();
  t.equal(receiver.received.length, 2);
  t.match(await readDeliveries(ctx, id), [{ status: 'delivered', attempt: 2 }]);
  t.equal((await readWebhook(app, alice, id)).status, 'active');
});

t.test('WEBHOOK_RETRY_DELAYS_MS sets the number and times of attempts', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  const own = { ...ctx, config: { ...ctx.config, webhookRetryDelaysMs: [2000, 1000] } };
  await recordManyEvents(own, alice.id, 1);
  const steps = [1999, 1, 999, 1];
  const counts = [];
  for (const step of steps) {
    clock.advance(step);
    await createDeliverer(own).drain();
    counts.push(receiver.received.length);
  }
  t.same(counts, [0, 1, 1, 2]);
  t.equal((await readWebhook(app, alice, id)).status, 'failed');
});

t.test('The fifth failure fails the webhook, ends its open deliveries, and notifies the owner once', async (t) => {
  const { id } = await postWebhook(app, alice, { url: `${receiver.url}/secret-path` });
  const { id: other } = await postWebhook(app, alice, { url: `${receiver.url}/other`, events: ['task.updated'] });
  receiver.answer(({ path }) => (path === '/other' ? 200 : 503));
  await recordManyEvents(ctx, alice.id, 3);
  for (const wait of WAITS) {
    clock.advance(wait);
    if (wait === 3_600_000) await recordManyEvents(ctx, alice.id, 20);
    await deliver();
  }
  t.match(await readWebhook(app, alice, id), { status: 'failed', isActive: false });
  t.equal((await readWebhook(app, alice, other)).status, 'active', 'another webhook is not affected');
  const open = (await readDeliveries(ctx, id)).filter(({ status }) => status === 'pending' || status === 'sending');
  t.equal(open.length, 0);
  t.equal((await readDeliveries(ctx, id)).filter(({ status }) => status === 'failed').length, 23);

  const notified = await ctx.db.select().from(notifications);
  t.match(notified, [{ userId: alice.id, kind: 'webhook.failed', message: /answered 503/, readAt: null }]);
  const [mail, ...more] = await ctx.db.select().from(mails);
  t.same(more, []);
  t.match(mail, { recipient: alice.email, subject: /webhook to 127\.0\.0\.1:\d+ failed/ });
  t.match(decryptBody(ctx, mail?.id ?? '', mail?.bodyEncrypted ?? ''), new RegExp(id));
  t.notMatch(JSON.stringify([notified, mail?.subject]), /secret-path/);

  receiver.received.length = 0;
  await recordManyEvents(ctx, alice.id, 2);
  clock.advance(86_400_000);
  await deliver();
  t.same(
    receiver.received.map(({ path }) => path),
    ['/other', '/other'],
    'nothing more is sent to it',
  );
});

t.test('A webhook that was switched off during its last attempt stays inactive', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  for (const wait of WAITS.slice(0, 4)) {
    clock.advance(wait);
    await deliver();
  }
  receiver.answer({ status: 500, delayMs: 1000 });
  clock.advance(3_600_000);
  const last = deliver();
  while (receiver.open === 0) await new Promise((resolve) => setImmediate(resolve));
  await callWebhook(app, alice, 'PATCH', id, '', { isActive: false });
  await last;
  t.equal((await readWebhook(app, alice, id)).status, 'inactive');
  t.match(await readDeliveries(ctx, id), [{ status: 'failed', attempt: 5 }]);
  t.equal(await ctx.db.$count(notifications), 0);
});

t.test('A delivery that is being sent when its webhook fails ends with its own attempt', async (t) => {
  const { id } = await postWebhook(app, alice, { url: receiver.url });
  await recordManyEvents(ctx, alice.id, 1);
  for (const wait of WAITS.slice(0, 4)) {
    clock.advance(wait);
    await deliver();
  }
  clock.advance(3_600_000);
  await recordManyEvents(ctx, alice.id, 2);
  receiver.answer(({ headers, body }) => {
    if (headers['x-delivery-attempt'] === '5') return { status: 500, delayMs: 50 };
    return { status: String(body).includes('"n":1') ? 500 : 200, delayMs: 300 };
  });
  await deliver();
  const ends = (await readDeliveries(ctx, id)).map(({ status, attempt }) => `${status} ${attempt}`).sort();
  t.same(ends, ['delivered 1', 'failed 1', 'failed 5']);
  t.equal((await readLog(app, alice, id)).length, 7, 'each attempt is in the log');
  t.equal(await ctx.db.$count(notifications), 1);
});
