import { executions, tasks, users } from '@carillon/db';
import { desc, eq } from 'drizzle-orm';
import t from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { BUSY_OUTCOME, createFixedAi, postTask, runDue } from '../support/tasks.ts';
import { type CreatedWebhook, postWebhook, sendInbound, testWebhooks } from '../support/webhooks.ts';

const { app, ctx, clock, alice, bob } = await testWebhooks(t);
let webhook: CreatedWebhook;
t.beforeEach(async () => {
  await ctx.db.delete(tasks);
  await ctx.db.update(users).set({ plan: 'pro' });
  webhook = await postWebhook(app, alice);
});
const send = (payload: object) => sendInbound(app, webhook, payload);

t.test('A signed call with a taskId executes that task', async (t) => {
  const taskId = await postTask(app, alice);
  const answer = await send({ event: 'order.paid', taskId, data: { order: 7 } });
  t.equal(answer.statusCode, 201);
  const { executionId, ...rest } = answer.json();
  t.same(rest, { success: true });
  const [execution] = await ctx.db.select().from(executions).where(eq(executions.id, executionId));
  t.match(execution, { taskId, userId: alice.id, trigger: 'inbound', status: 'pending' });
  await createWorker(ctx).drain();
  const shown = await app.inject({ url: `/api/executions/${executionId}`, headers: alice.headers });
  t.match(shown.json().execution, { status: 'completed', trigger: 'inbound' });
});

t.test("A stranger's task and an unknown task are not found", async (t) => {
  for (const taskId of [await postTask(app, bob), 2_147_483_647]) {
    const answer = await send({ taskId });
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { error: 'Task not found' });
  }
});

t.test('A call over quota executes nothing', async (t) => {
  const taskId = await postTask(app, alice);
  await ctx.db.update(users).set({ plan: 'trial', trialEndsAt: ctx.now() }).where(eq(users.id, alice.id));
  const answer = await send({ taskId });
  t.equal(answer.statusCode, 402);
  t.match(answer.json(), { success: false, error: 'Quota exceeded', details: { resource: 'trial' } });
});

t.test('Task events of an execution that a webhook started go to no webhook, retries included', async (t) => {
  const receiver = await startReceiver(t);
  const events = ['task.started', 'task.completed', 'task.failed', 'execution.started', 'execution.completed'];
  await postWebhook(app, alice, { url: receiver.url, events: [...events, 'execution.failed'] });
  const taskId = await postTask(app, alice);
  const receiveEvents = async () => {
    receiver.received.length = 0;
    await createDeliverer(ctx).drain();
    return receiver.received.map(({ headers }) => headers['x-event-type']).sort();
  };

  const busy = { ...ctx, ai: createFixedAi(BUSY_OUTCOME) };
  t.equal((await send({ taskId })).statusCode, 201);
  await createWorker(busy).drain();
  t.same(await receiveEvents(), ['execution.failed', 'execution.started']);
  clock.advance(60_000);
  await runDue(ctx);
  t.same(await receiveEvents(), ['execution.completed', 'execution.started'], 'of its retry too');
  const [retry] = await ctx.db.select().from(executions).orderBy(desc(executions.id)).limit(1);
  t.match(retry, { trigger: 'retry', viaWebhook: true });

  await app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers: alice.headers });
  await createWorker(ctx).drain();
  t.same(
    await receiveEvents(),
    ['execution.completed', 'execution.started', 'task.completed', 'task.started'],
    'a run by hand shows everything',
  );
});
