import { agentCalls, executions, providers, queryRows, settings, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { getSettings } from '../../../src/platform/settings.ts';
import { processMessage } from '../../../src/product/agent/process.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { startAiServer } from '../../support/servers/ai-server.ts';
import { insertTask, insertTasks, insertUsers, readRun } from '../../support/task-rows.ts';
import { until } from '../../support/until.ts';

const { ctx, ai, alice, newProcess, newWorker, runDue } = await testEngine(t);
const local = await startAiServer();
t.teardown(() => local.close());

let [open, most] = [0, 0];
const LIMIT = 2;
const ID = '00000000-0000-4000-8000-00000000000a';

t.beforeEach(async () => {
  [open, most] = [0, 0];
  local.requests.length = 0;
  local.answer(async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 15));
    open -= 1;
    return {};
  });
  await ctx.db.delete(providers);
  const at = ctx.now();
  const values = { kind: 'openai', baseUrl: local.url, maxConcurrent: LIMIT, createdAt: at, updatedAt: at } as const;
  await ctx.db.insert(providers).values({ id: ID, name: 'local', ...values });
  ctx.providers.forget();
});

t.test(
  'A provider never gets more calls at once than it may, over two processes, and each run is answered once',
  async (t) => {
    const userIds = (await insertUsers(ctx, 10)).flatMap((userId) => [userId, userId, userId, userId]);
    await insertTasks(ctx, userIds, { aiModel: 'local/m' });
    await enqueueDue(ctx);
    const [one, other] = [newProcess(t), newProcess(t)];
    const left = () => ctx.db.$count(executions, sql`status <> 'completed'`);
    while ((await left()) > 0) await Promise.all([one.worker.drain(), other.worker.drain()]);
    t.equal(most, LIMIT);
    t.equal(local.requests.length, userIds.length);
  },
);

t.test('The call that decides the outcome keeps the place of its run', async (t) => {
  await ctx.db.update(providers).set({ maxConcurrent: 1 });
  ctx.providers.forget();
  await insertTasks(ctx, await insertUsers(ctx, 4), { aiModel: 'local/m', notify: 'news' });
  await enqueueDue(ctx);
  const [one, other] = [newProcess(t), newProcess(t)];
  const left = () => ctx.db.$count(executions, sql`status <> 'completed'`);
  while ((await left()) > 0) await Promise.all([one.worker.drain(), other.worker.drain()]);
  t.equal(local.requests.length, 8);
  t.equal(most, 1);
});

t.test('What waits for a provider stays queued and keeps no other run waiting', async (t) => {
  const release = Promise.withResolvers<void>();
  local.answer(async () => {
    await release.promise;
    return {};
  });
  const userIds = await insertUsers(ctx, 8);
  await insertTasks(ctx, userIds, { aiModel: 'local/m' });
  const others = await insertTasks(ctx, userIds, { aiModel: 'another' });
  await enqueueDue(ctx);
  const { worker } = newProcess(t, { executionConcurrency: 4 });
  worker.wakeExecutions();
  await until(async () => (await ctx.db.$count(executions, eq(executions.status, 'completed'))) === others.length);
  t.equal(local.requests.length, LIMIT);
  const states = await queryRows<{ status: string; count: number }>(
    ctx.db,
    sql`select status, count(*)::int as count from executions_live group by 1 order by 1`,
  );
  t.same(states, [
    { status: 'pending', count: 6 },
    { status: 'running', count: 2 },
  ]);
  release.resolve();
  await worker.drain();
});

t.test('The calls of a provider go to one user after the other', async (t) => {
  await ctx.db.update(providers).set({ maxConcurrent: 1 });
  ctx.providers.forget();
  const [many, few] = (await insertUsers(ctx, 2)) as [number, number];
  await insertTasks(ctx, Array<number>(10).fill(many), { aiModel: 'local/m', name: 'many' });
  await insertTasks(ctx, [few, few], { aiModel: 'local/m', name: 'few' });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const order = await queryRows<{ userId: number }>(
    ctx.db,
    sql`select user_id from usage_records where executions = 1 order by id`,
  );
  const places = order.flatMap(({ userId }, at) => (userId === few ? [at] : []));
  t.ok((places[1] ?? 99) <= 3, `the two runs of the other user are at ${places}`);
});

t.test('Models of the default provider are counted under whatever name', async (t) => {
  const test = await ctx.providers.load();
  t.equal(test.list[0]?.name, 'default');
  await insertTasks(ctx, await insertUsers(ctx, 6), { aiModel: 'unknown/m' });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.equal(local.requests.length, 0);
  t.equal(ai.requests.length, 6);
});

t.test('Agent mode counts towards the limit, and is refused with a time to wait', async (t) => {
  const { defaultModel } = await getSettings(ctx);
  await ctx.db.update(settings).set({ defaultModel: 'local/m' });
  t.teardown(async () => {
    await ctx.db.update(settings).set({ defaultModel });
  });
  await ctx.db.update(providers).set({ maxConcurrent: 1 });
  ctx.providers.forget();
  const release = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  local.answer(async () => {
    reached.resolve();
    await release.promise;
    return {};
  });
  const task = await insertTask(ctx, alice().id, { aiModel: 'local/m' });
  await enqueueDue(ctx);
  const { worker } = newProcess(t);
  worker.wakeExecutions();
  await reached.promise;
  const ask = () => processMessage(ctx, alice(), { message: 'Hello' }, { signal: new AbortController().signal });
  const refused = await ask().catch((error) => error);
  t.match(refused, { kind: 'provider_failed', details: { errorCode: 'RATE_LIMIT_EXCEEDED' }, retryAfterSeconds: 5 });
  t.equal(await ctx.db.$count(agentCalls), 0);
  release.resolve();
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'completed', provider: 'local' });

  const held = Promise.withResolvers<void>();
  local.answer(async () => {
    await held.promise;
    return {};
  });
  const bob = buildCaller((await insertUsers(ctx, 1))[0] as number);
  const answer = processMessage(ctx, bob, { message: 'Hello' }, { signal: new AbortController().signal });
  await until(async () => (await ctx.db.$count(agentCalls)) === 1);
  await insertTask(ctx, alice().id, { aiModel: 'local/m' });
  await runDue(t);
  t.equal(local.requests.length, 2, 'the run waits for the call of agent mode');
  held.resolve();
  await answer;
  await newWorker(t).drain();
  t.equal(local.requests.length, 3);
});

t.test('A fallback to a provider that is busy is not asked, and the next one answers', async (t) => {
  await ctx.db.update(providers).set({ maxConcurrent: 1 });
  ctx.providers.forget();
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  local.answer(async () => {
    reached.resolve();
    await release.promise;
    return {};
  });
  await insertTask(ctx, alice().id, { aiModel: 'local/m' });
  await enqueueDue(ctx);
  const { worker } = newProcess(t);
  worker.wakeExecutions();
  await reached.promise;
  ai.answer(({ body }) => (body.model === 'first' ? { status: 503 } : {}));
  const [bob] = (await insertUsers(ctx, 1)) as [number];
  const task = await insertTask(ctx, bob, { aiModel: 'first', fallbackModels: ['local/m', 'third'] });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), {
    status: 'completed',
    modelAttempts: [
      { model: 'first', errorCode: 'PROVIDER_UNAVAILABLE' },
      { model: 'local/m', errorCode: 'RATE_LIMIT_EXCEEDED', message: /as many calls at once as it may/, ms: 0 },
      { model: 'third', errorCode: null },
    ],
  });
  release.resolve();
  await worker.drain();
  const other = await insertTask(ctx, bob, { aiModel: 'first', fallbackModels: ['local/m'] });
  await runDue(t);
  t.match(await readRun(ctx, other), { status: 'completed', provider: 'local' });
  t.equal(await ctx.db.$count(users, eq(users.id, bob)), 1);
});
