import { deliveries, endpoints, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { recordEvents } from '../../src/platform/events/outbox.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { inTransaction } from '../../src/transaction.ts';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { postTask } from '../support/tasks.ts';
import { callWebhook, postWebhook, readWebhook, sendInbound } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t);
const receiver = await startReceiver(t);
t.beforeEach(async () => {
  for (const table of [tasks, users]) await ctx.db.delete(table);
  receiver.received.length = 0;
});

async function change({ headers }: Person, payload: object) {
  const answer = await app.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json().settings;
}
const read = async ({ headers }: Person) => (await app.inject({ url: '/api/user/settings', headers })).json().settings;
const execute = (id: number, { headers }: Person) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });
async function receivedEvents() {
  await createWorker(ctx).drain();
  await createDeliverer(ctx).drain();
  return receiver.received.splice(0).map(({ headers }) => headers['x-event-type']);
}

t.test('The account’s webhook receives every ended run and the usage alerts', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const { webhookId } = await change(alice, { webhookUrl: receiver.url });
  t.match(await readWebhook(app, alice, webhookId), {
    ...{ purpose: 'account', taskId: null, url: receiver.url, status: 'active' },
    events: ['task.completed', 'task.failed', 'usage.alert'],
  });
  await execute(await postTask(app, alice), alice);
  await execute(await postTask(app, bob), bob);
  t.same(await receivedEvents(), ['task.completed']);
  const events = [{ kind: 'usage.alert' as const, userId: alice.id, data: {} }];
  await inTransaction(ctx, async (tx) => recordEvents(tx, events));
  t.same(await receivedEvents(), ['usage.alert']);
});

t.test('A run that an inbound webhook caused sends nothing to the account’s webhook', async (t) => {
  const alice = await signUp(app);
  await change(alice, { webhookUrl: receiver.url });
  await sendInbound(app, await postWebhook(app, alice), { taskId: await postTask(app, alice) });
  t.same(await receivedEvents(), []);
});

t.test('The preferences switch the account’s webhook off and on', async (t) => {
  const alice = await signUp(app);
  const preferences = { notificationPreferences: { webhook: false } };
  const { webhookId } = await change(alice, { webhookUrl: receiver.url, ...preferences });
  const statusOf = async () => (await readWebhook(app, alice, webhookId)).status;
  const prefers = async () => (await read(alice)).notificationPreferences.webhook;
  const id = await postTask(app, alice);
  t.equal(await statusOf(), 'inactive');
  await execute(id, alice);
  t.same(await receivedEvents(), []);

  await change(alice, { notificationPreferences: { webhook: true } });
  t.equal(await statusOf(), 'active');
  for (const isActive of [false, true]) {
    t.equal((await callWebhook(app, alice, 'PATCH', webhookId, '', { isActive })).statusCode, 200);
    t.same([await prefers(), await statusOf()], [isActive, isActive ? 'active' : 'inactive']);
  }
  const { id: other } = await postWebhook(app, alice);
  await callWebhook(app, alice, 'PATCH', other, '', { isActive: false });
  t.equal(await prefers(), true, 'other webhooks are not affected');
  const bob = await signUp(app, { name: 'Bob' });
  t.equal((await callWebhook(app, bob, 'PATCH', webhookId, '', { isActive: false })).statusCode, 404);
  t.same([await prefers(), (await read(bob)).notificationPreferences.webhook], [true, true]);
});

t.test('A failed webhook stays failed until its URL changes or it is switched on', async (t) => {
  const alice = await signUp(app);
  const { webhookId } = await change(alice, { webhookUrl: 'https://hooks.example.com/a' });
  const fail = () => ctx.db.update(endpoints).set({ status: 'failed', lastAttemptOk: false });
  const rowOf = async () => (await ctx.db.select().from(endpoints).where(eq(endpoints.id, webhookId)))[0];
  await fail();
  await change(alice, { webhookUrl: 'https://hooks.example.com/a', notificationPreferences: { webhook: true } });
  t.match(await rowOf(), { status: 'failed', lastAttemptOk: false });
  await change(alice, { notificationEmails: ['a@example.com'] });
  t.match(await rowOf(), { status: 'failed' });
  await change(alice, { webhookUrl: 'https://hooks.example.com/b' });
  t.match(await rowOf(), { status: 'active', lastAttemptOk: null, url: 'https://hooks.example.com/b' });
  await fail();
  await callWebhook(app, alice, 'PATCH', webhookId, '', { isActive: true });
  t.match(await rowOf(), { status: 'active' });
});

t.test('The account has one such webhook, which counts against no limit and is deleted with its URL', async (t) => {
  const alice = await signUp(app);
  const urls = [1, 2, 3, 4].map((n) => `https://hooks.example.com/${n}`);
  await Promise.all(urls.map((webhookUrl) => change(alice, { webhookUrl })));
  const { webhookUrl, webhookId } = await read(alice);
  t.match(await ctx.db.select().from(endpoints), [{ id: webhookId, url: webhookUrl }], 'after concurrent changes');
  for (let n = 0; n < 3; n++) await postWebhook(app, alice, { events: ['task.deleted'] });
  for (const [method, payload] of [
    ['DELETE', undefined],
    ['PATCH', { url: 'https://hooks.example.com/' }],
  ] as const) {
    const rejected = await callWebhook(app, alice, method, webhookId, '', payload);
    t.equal(rejected.statusCode, 409);
    t.match(rejected.json().error, /your settings.*webhookUrl/);
  }
  await execute(await postTask(app, alice), alice);
  await createWorker(ctx).drain();
  t.equal(await ctx.db.$count(deliveries), 1);
  t.match(await change(alice, { webhookUrl: null }), { webhookUrl: null, webhookId: null });
  t.same([await ctx.db.$count(endpoints), await ctx.db.$count(deliveries)], [3, 0]);
});
