import { ALERT_KINDS, deliveries, endpoints, mails, notifications, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { createWorker } from '../../../src/entry/worker.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import type { Person } from '../../support/people.ts';
import { BUSY_OUTCOME, createFixedAi, patchTask, postTask, REFUSED_OUTCOME, runDue } from '../../support/tasks.ts';
import { callWebhook, postWebhook, readWebhook, sendInbound, testWebhooks } from '../../support/webhooks.ts';

const { app, ctx, clock, alice, bob, receiver } = await testWebhooks(t);
t.beforeEach(async () => {
  for (const table of [tasks, notifications, mails]) await ctx.db.delete(table);
});

const list = async (person: Person) =>
  (await app.inject({ url: '/api/webhooks', headers: person.headers })).json().webhooks;
const findTaskWebhook = async (taskId: number) =>
  (await ctx.db.select().from(endpoints).where(eq(endpoints.taskId, taskId)))[0];
const execute = (id: number, { headers } = alice) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });
/** Runs pending executions and sends their deliveries; returns paths and events that arrived since the last call. */
async function receiveEvents(own = ctx) {
  await createWorker(own).drain();
  await createDeliverer(ctx).drain();
  return receiver.received.splice(0).map(({ path, headers }) => `${path} ${headers['x-event-type']}`);
}

t.test('The address of a task gets the results of that task only', async (t) => {
  const id = await postTask(app, alice, { webhookUrl: `${receiver.url}/a` });
  const other = await postTask(app, alice, { webhookUrl: `${receiver.url}/b` });
  const silent = await postTask(app, alice);
  for (const task of [id, other, silent]) await execute(task);
  t.same((await receiveEvents()).sort(), ['/a execution.completed', '/b execution.completed']);
  await execute(id);
  t.same(await receiveEvents({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) }), ['/a execution.failed']);
});

t.test('Each failed attempt is sent, with whether a retry follows', async (t) => {
  const id = await postTask(app, alice, { webhookUrl: receiver.url });
  await execute(id);
  await createWorker({ ...ctx, ai: createFixedAi(BUSY_OUTCOME) }).drain();
  await createDeliverer(ctx).drain();
  const [first] = receiver.received.splice(0);
  t.match(JSON.parse(String(first?.body)), { event: 'execution.failed', data: { task: { id }, retryScheduled: true } });
  clock.advance(60_000);
  await runDue(ctx);
  t.same(await receiveEvents(), ['/ execution.completed']);
});

t.test('The result of an execution that an inbound webhook started is sent too', async (t) => {
  const id = await postTask(app, alice, { webhookUrl: receiver.url });
  t.equal((await sendInbound(app, await postWebhook(app, alice), { taskId: id })).statusCode, 201);
  t.same(await receiveEvents(), ['/ execution.completed']);
});

t.test("The owner sees a task's webhook in the list, and verifies with a rotated secret", async (t) => {
  // The library compares the timestamp with the real clock.
  clock.set(new Date());
  const scheduledFor = new Date(ctx.now().getTime() + 3_600_000).toISOString();
  const id = await postTask(app, alice, { webhookUrl: receiver.url, scheduledFor });
  const [shown, ...rest] = await list(alice);
  t.same(rest, []);
  t.match(shown, { purpose: 'task', taskId: id, url: receiver.url, status: 'active', isActive: true });
  t.same(shown.events, ['execution.completed', 'execution.failed', ...ALERT_KINDS]);
  t.same(await readWebhook(app, alice, shown.id), shown);
  t.same(await list(bob), []);
  t.equal((await callWebhook(app, bob, 'GET', shown.id)).statusCode, 404);

  const rotated = await callWebhook(app, alice, 'POST', shown.id, '/rotate-secret');
  const { secret } = rotated.json().webhook;
  await execute(id);
  await createWorker(ctx).drain();
  await createDeliverer(ctx).drain();
  const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]];
  t.match(new Webhook(secret).verify(body, headers as Record<string, string>), { data: { task: { id } } });
  t.match((await callWebhook(app, alice, 'POST', shown.id, '/test')).json(), { success: true });
  const { logs } = (await callWebhook(app, alice, 'GET', shown.id, '/logs')).json();
  t.same(logs.map(({ event }: { event: string }) => event).sort(), ['execution.completed', 'test']);
  const again = await callWebhook(app, alice, 'POST', shown.id, `/logs/${logs[0].id}/redeliver`);
  t.equal(again.statusCode, 201);
  t.equal(
    (await app.inject({ url: `/api/webhooks/${alice.id}/${secret}` })).statusCode,
    404,
    'it has no inbound address',
  );
});

t.test("A task's webhook counts against no limit", async (t) => {
  for (let n = 0; n < 4; n++) await postTask(app, alice, { webhookUrl: `${receiver.url}/${n}` });
  for (let n = 0; n < 3; n++) await postWebhook(app, alice);
  t.equal((await list(alice)).length, 7);
  t.equal(await ctx.db.$count(endpoints, eq(endpoints.purpose, 'subscription')), 3);
  await t.rejects(postWebhook(app, alice), /Quota exceeded/);
});

t.test("A task's webhook can only be switched; other changes are refused with where to make them", async (t) => {
  const taskId = await postTask(app, alice, { webhookUrl: receiver.url });
  const { id } = (await list(alice))[0];
  const before = await readWebhook(app, alice, id);
  const calls = [
    ['PATCH', { url: 'https://hooks.example.com/' }],
    ['PATCH', { events: ['task.created'] }],
    ['PATCH', { description: 'Mine' }],
    ['PATCH', { isActive: false, description: null }],
    ['DELETE', undefined],
  ] as const;
  for (const [method, payload] of calls) {
    const refused = await callWebhook(app, alice, method, id, '', payload);
    t.equal(refused.statusCode, 409, JSON.stringify(payload));
    t.match(refused.json().error, new RegExp(`the task ${taskId}.*webhookUrl`));
    t.equal((await callWebhook(app, bob, method, id, '', payload)).statusCode, 404, 'a stranger does not see it');
  }
  t.same(await readWebhook(app, alice, id), before);

  const switched = await callWebhook(app, alice, 'PATCH', id, '', { isActive: false });
  t.match(switched.json().webhook, { isActive: false, status: 'inactive' });
  await execute(taskId);
  t.same(await receiveEvents(), []);
  await ctx.db.update(endpoints).set({ status: 'failed' });
  t.match((await callWebhook(app, alice, 'PATCH', id, '', { isActive: true })).json().webhook, { status: 'active' });
});

t.test("A new address switches a task's webhook on; removing it or the task deletes the webhook", async (t) => {
  const taskId = await postTask(app, alice, { webhookUrl: 'https://hooks.example.com/a' });
  const first = await findTaskWebhook(taskId);
  await ctx.db.update(endpoints).set({ status: 'failed', lastAttemptOk: false });
  await patchTask(app, alice, taskId, { name: 'Another name', webhookUrl: 'https://hooks.example.com/a' });
  t.match(await findTaskWebhook(taskId), { status: 'failed' }, 'the same address changes nothing');
  await patchTask(app, alice, taskId, { webhookUrl: 'https://hooks.example.com/b' });
  t.match(await findTaskWebhook(taskId), {
    ...{ id: first?.id, secretEncrypted: first?.secretEncrypted, url: 'https://hooks.example.com/b' },
    ...{ status: 'active', lastAttemptOk: null },
  });
  await patchTask(app, alice, taskId, { webhookUrl: null });
  t.equal(await findTaskWebhook(taskId), undefined);
  await patchTask(app, alice, taskId, { webhookUrl: 'https://hooks.example.com/b' });
  t.not((await findTaskWebhook(taskId))?.id, first?.id);
  await execute(taskId);
  await createWorker(ctx).drain();
  t.equal(await ctx.db.$count(deliveries), 1);
  await app.inject({ method: 'DELETE', url: `/api/tasks/${taskId}`, headers: alice.headers });
  t.same([await ctx.db.$count(endpoints), await ctx.db.$count(deliveries)], [0, 0]);
});

t.test('The last of concurrent changes wins in the task and its webhook', async (t) => {
  const taskId = await postTask(app, alice);
  const urls = [1, 2, 3, 4, 5, 6].map((n) => (n === 3 ? null : `https://hooks.example.com/${n}`));
  const answers = await Promise.all(urls.map((webhookUrl) => patchTask(app, alice, taskId, { webhookUrl })));
  for (const { statusCode } of answers) t.equal(statusCode, 200);
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, taskId));
  t.equal((await findTaskWebhook(taskId))?.url ?? null, task?.webhookUrl);
});

t.test('An unreachable address is refused and changes nothing', async (t) => {
  const taskId = await postTask(app, alice, { webhookUrl: receiver.url });
  const answer = await patchTask(app, alice, taskId, { name: 'Another', webhookUrl: 'http://169.254.0.1/' });
  t.equal(answer.statusCode, 400);
  t.same(Object.keys(answer.json().details), ['webhookUrl']);
  t.match(await findTaskWebhook(taskId), { url: receiver.url });
});

t.test('The notification of a failed task webhook names the task', async (t) => {
  const taskId = await postTask(app, alice, { name: 'Evening news', webhookUrl: receiver.url });
  receiver.answer(500);
  await execute(taskId);
  await createWorker(ctx).drain();
  for (const wait of [0, 60_000, 300_000, 900_000, 3_600_000]) {
    clock.advance(wait);
    await createDeliverer(ctx).drain();
  }
  t.match(await findTaskWebhook(taskId), { status: 'failed' });
  t.match(await ctx.db.select().from(notifications).where(eq(notifications.kind, 'webhook.failed')), [
    { userId: alice.id, title: `The webhook of the task "Evening news" to ${new URL(receiver.url).host} failed` },
  ]);
});

t.test('A deactivated account sends nothing until it is active again', async (t) => {
  const taskId = await postTask(app, alice, { webhookUrl: receiver.url });
  await execute(taskId);
  await createWorker(ctx).drain();
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  t.same(await receiveEvents(), []);
  await ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice.id));
  t.same(await receiveEvents(), ['/ execution.completed']);
});
