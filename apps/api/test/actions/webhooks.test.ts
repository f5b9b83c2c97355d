import { endpoints } from '@carillon/db';
import t from 'tap';
import { getData, notFoundError, testActions, validationError } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { computeSignature, readLog, readWebhook, UNKNOWN_WEBHOOK_IDS, WEBHOOK } from '../support/webhooks.ts';

const { app, ctx, logged } = await testContext(t);
const actions = testActions(ctx);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const receiver = await startReceiver(t);
t.beforeEach(async () => {
  await ctx.db.delete(endpoints);
  receiver.received.length = 0;
  receiver.answer(200);
});
const SECRET = "the caller's own secret".replaceAll(' ', '-');
const subscribe = (given: object = {}, { token } = alice) =>
  actions.createWebhook(token, { ...WEBHOOK, events: ['task.created'], ...given });

t.test('A webhook is created with a generated or a chosen secret', async (t) => {
  const made = await getData(subscribe());
  t.match(made.secret, /^whsec_\w{32}$/);
  const data = await getData(subscribe({ secret: SECRET }));
  t.same(data, {
    ...{ id: data.id, userId: String(alice.id), url: WEBHOOK.url, secret: SECRET, events: ['task.created'] },
    ...{ isActive: true, createdAt: START.toISOString() },
  });
  t.match(await readWebhook(app, alice, data.id), { id: data.id, url: WEBHOOK.url, status: 'active' });
  t.notMatch(JSON.stringify(logged), SECRET);
});

t.test('Invalid input is rejected by field, and a webhook over the quota is 402', async (t) => {
  t.same(
    await actions.createWebhook(alice.token, {} as never),
    validationError({ url: ['is required'], events: ['is required'] }),
  );
  t.same(await subscribe({ events: [] }), validationError({ events: ['must have at least 1 item'] }));
  t.match(await subscribe({ events: ['task.eaten'] }), {
    details: { events: [/^item 1 must be one of task.created/] },
  });
  t.match(await subscribe({ url: 'http://169.254.0.1/' }), { details: { url: [/./] } });
  t.same(await subscribe({ secret: 'short' }), validationError({ secret: ['must be at least 16 characters'] }));
  for (let n = 0; n < 3; n++) await getData(subscribe());
  const error = 'The quota of 3 webhooks is used up.';
  t.same(await subscribe(), { success: false, error, code: 'QUOTA_EXCEEDED' });
});

t.test('A secret that opens the inbound address of another webhook of the caller is a conflict', async (t) => {
  const secret = 'x'.repeat(40);
  await getData(subscribe({ secret }));
  t.match(await subscribe({ secret }), { success: false, code: 'CONFLICT' });
  t.equal((await subscribe({ secret }, bob)).success, true, 'another user can have the same');
});

t.test('A test is sent at once, signed with the secret, and the result is its delivery', async (t) => {
  const { id } = await getData(subscribe({ url: `${receiver.url}/x`, secret: SECRET }));
  const data = await getData(actions.testWebhook(alice.token, id));
  const [delivery] = receiver.received;
  const body = delivery?.body as Buffer;
  t.match(JSON.parse(String(body)), { event: 'test', timestamp: START.toISOString(), data: { message: String } });
  t.equal(delivery?.headers['x-webhook-signature'], computeSignature(SECRET, body));
  t.match(data, { webhookId: id, event: 'test', statusCode: 200, attempt: 1, success: true });
  t.match(await readLog(app, alice, id), [data]);
});

t.test('A receiver that fails is reported in the data', async (t) => {
  const { id } = await getData(subscribe({ url: receiver.url }));
  receiver.answer(500);
  t.match(await getData(actions.testWebhook(alice.token, id)), { success: false, statusCode: 500 });
});

t.test('An unknown and a stranger’s webhook are not found', async (t) => {
  const { id } = await getData(subscribe({ url: receiver.url }));
  t.same(await actions.testWebhook(bob.token, id), notFoundError('webhook'));
  for (const other of UNKNOWN_WEBHOOK_IDS)
    t.match(await actions.testWebhook(alice.token, other), { code: 'NOT_FOUND' }, other);
  t.equal(receiver.received.length, 0);
});
