import { randomUUID } from 'node:crypto';
import { deliveries, executions, occurrences, tasks, usageCounters, usageRecords } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../src/product/executions/pipeline/complete.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { buildResult } from '../support/executions.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { type Person, signUp, signUpAda } from '../support/people.ts';
import { BUSY_OUTCOME, createFixedAi, INVALID_IDS, patchTask, postTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const aborted: number[] = [];
ctx.worker = { ...ctx.worker, abort: (ids) => void aborted.push(...ids) };
t.beforeEach(() => clock.set(START));
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const remove = ({ headers }: Person, id: number | string) =>
  app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers });
const execute = ({ headers }: Person, id: number) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });
const today = async ({ id }: Person) => {
  const counters = await ctx.db
    .select({
      executions: usageCounters.executions,
      tokens: usageCounters.tokens,
      reserved: usageCounters.tokensReserved,
    })
    .from(usageCounters)
    .where(and(eq(usageCounters.userId, id), eq(usageCounters.period, '2026-11-20')));
  return counters[0];
};

t.test('A task is deleted with its history, and nothing else is', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.deleted']);
  const [id, other] = [
    await postTask(app, alice, { aiModel: 'offline' }),
    await postTask(app, alice, { aiModel: 'offline' }),
  ];
  clock.set(TASK.scheduledFor);
  await runDue(ctx);
  const answer = await remove(alice, id);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, message: 'The task is deleted.' });
  t.match(await receivedEvents(), [
    {
      event: 'task.deleted',
      timestamp: TASK.scheduledFor,
      data: { task: { id, name: TASK.name, deletedAt: TASK.scheduledFor } },
    },
  ]);
  for (const [taskId, count] of [
    [id, 0],
    [other, 1],
  ] as const) {
    t.equal(await ctx.db.$count(tasks, eq(tasks.id, taskId)), count);
    t.equal(await ctx.db.$count(executions, eq(executions.taskId, taskId)), count);
    t.equal(await ctx.db.$count(occurrences, eq(occurrences.taskId, taskId)), count);
  }
  t.equal(await ctx.db.$count(usageRecords, eq(usageRecords.userId, alice.id)), 2, 'the usage stays');
});

t.test('A deleted task and everything of it is not found', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  await remove(alice, id);
  for (const answer of [
    await remove(alice, id),
    await execute(alice, id),
    await patchTask(app, alice, id, { name: 'Gone' }),
  ]) {
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Task not found' });
  }
});

t.test('A pending execution gives its quota back', async (t) => {
  const alice = await signUp(app);
  const [id, other] = [await postTask(app, alice), await postTask(app, alice)];
  await Promise.all([execute(alice, id), execute(alice, id), execute(alice, other)]);
  t.match(await today(alice), { executions: 3 });
  await remove(alice, id);
  t.match(await today(alice), { executions: 1, tokens: 0, reserved: 0 });
});

t.test('A running execution is aborted, counted as an estimate, and leaves no trace', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.completed', 'execution.completed']);
  const id = await postTask(app, alice, { maxTokens: 500 });
  await execute(alice, id);
  const { started } = await pipeline.claim(ctx, { limit: 10, after: 0 });
  const run = started.find(({ taskId }) => taskId === id);
  if (!run) return t.fail('it did not start');
  t.match(await today(alice), { executions: 1, reserved: 500 });
  await remove(alice, id);
  t.ok(aborted.includes(run.id));
  // What was sent, at four characters per token.
  const tokens = Math.ceil(`${run.request.system}${TASK.prompt}`.length / 4);
  t.ok(tokens > TASK.prompt.length / 4);
  t.match(await today(alice), { executions: 1, tokens, reserved: 0 });
  const usage = { model: 'm', inputTokens: 1, outputTokens: 1, estimated: false, costUsd: 1 };
  const late = buildResult(run, { usage });
  t.same(await completeExecutions(ctx, [late]), [], 'the worker that ran it completes nothing');
  t.match(await today(alice), { executions: 1, tokens });
  t.same(await receivedEvents(), []);
});

t.test('A retry that is scheduled is deleted too', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrence: 'once' });
  clock.set(TASK.scheduledFor);
  await runDue({ ...ctx, ai: createFixedAi(BUSY_OUTCOME) });
  t.equal(await ctx.db.$count(executions, eq(executions.taskId, id)), 2);
  await remove(alice, id);
  clock.advance(3_600_000);
  await runDue(ctx);
  t.equal(await ctx.db.$count(executions, eq(executions.userId, alice.id)), 0);
});

t.test('A stranger’s and an unknown task are not found, and stay', async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const id = await postTask(app, alice);
  const receivedEvents = await captureEvents(ctx, alice);
  for (const person of [bob, ada]) {
    const answer = await remove(person, id);
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Task not found' });
  }
  for (const unknown of [...INVALID_IDS, '2147483647'])
    t.equal((await remove(alice, unknown)).statusCode, 404, unknown);
  t.equal(await ctx.db.$count(tasks, eq(tasks.id, id)), 1);
  t.same(await receivedEvents(), []);
});

t.test('Concurrent deletions delete a task once', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.deleted']);
  const id = await postTask(app, alice);
  const answers = await Promise.all(Array.from({ length: 10 }, () => remove(alice, id)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array(9).fill(404)]);
  t.equal((await receivedEvents()).length, 1);
});

t.test('A deletion beside runs, changes and claims takes place before or after them, and never fails', async (t) => {
  const alice = await signUp(app);
  for (let round = 0; round < 10; round++) {
    const id = await postTask(app, alice, { aiModel: 'offline' });
    const [removed, ...others] = await Promise.all([
      remove(alice, id),
      ...Array.from({ length: 4 }, () => execute(alice, id)),
      patchTask(app, alice, id, { name: `Round ${round}` }),
      patchTask(app, alice, id, { status: 'paused' }),
      runDue(ctx).then(() => ({ statusCode: 200 })),
    ]);
    t.equal(removed.statusCode, 200);
    for (const { statusCode } of others) t.ok([200, 201, 404].includes(statusCode), String(statusCode));
    t.equal(await ctx.db.$count(executions, eq(executions.taskId, id)), 0);
  }
});

t.test('The webhook receives `task.deleted` exactly when the task is deleted', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.deleted']);
  const id = await postTask(app, alice);
  const requestId = randomUUID();
  await app.inject({
    method: 'DELETE',
    url: `/api/tasks/${id}`,
    headers: { ...alice.headers, 'x-request-id': requestId },
  });
  const [delivery] = await ctx.db.select().from(deliveries).where(eq(deliveries.requestId, requestId));
  t.match(
    delivery,
    { event: 'task.deleted', status: 'pending', attempt: 0, nextAttemptAt: START },
    'the event has the request id',
  );
  t.equal((await receivedEvents()).length, 1);
});

t.test('Deleting a task needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { method: 'DELETE', url: `/api/tasks/${id}` });
});
