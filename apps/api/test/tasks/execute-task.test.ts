import { executions, tasks, usageCounters } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { type Person, signUp } from '../support/people.ts';
import {
  createFixedAi,
  INVALID_IDS,
  patchTask,
  postTask,
  REFUSED_OUTCOME,
  readTask,
  runDue,
  TASK,
} from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let nudges = 0;
ctx.worker = { ...ctx.worker, wakeExecutions: () => void nudges++ };
t.beforeEach(() => clock.set(START));
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const execute = ({ headers }: Person, id: number | string) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers });
const read = async ({ headers }: Person, id: number) =>
  (await app.inject({ url: `/api/executions/${id}`, headers })).json().execution;

t.test('A run is queued at once, and the schedule stays as it is', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const before = nudges;
  clock.set('2026-11-20T10:00:01.234Z');
  const answer = await execute(alice, id);
  t.equal(answer.statusCode, 201);
  const { executionId } = answer.json();
  t.same(answer.json(), { success: true, executionId, status: 'pending', startedAt: '2026-11-20T10:00:01.234Z' });
  t.equal(nudges, before + 1, 'the worker is woken');
  t.match(await read(alice, executionId), { status: 'pending', trigger: 'manual', plannedFor: null, startedAt: null });
  await runDue(ctx);
  t.match(await read(alice, executionId), { status: 'completed', result: /AI_BASE_URL/ });
  t.match(await readTask(app, alice, id), { executionCount: 1, nextExecutionAt: TASK.scheduledFor });
});

t.test('A task can be run in any status', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  for (const status of ['paused', 'completed', 'failed', 'active'] as const) {
    await ctx.db.update(tasks).set({ status, nextExecutionAt: null }).where(eq(tasks.id, id));
    t.equal((await execute(alice, id)).statusCode, 201, status);
    await runDue(ctx);
    t.match(await readTask(app, alice, id), { status }, 'the status stays');
  }
});

t.test('A failed run has its reason, and the task continues', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, [
    'task.started',
    'execution.started',
    'task.failed',
    'execution.failed',
  ]);
  const id = await postTask(app, alice);
  const { executionId } = (await execute(alice, id)).json();
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  t.match(await read(alice, executionId), { status: 'failed', error: 'No such model.', errorCode: 'INVALID_REQUEST' });
  t.match(await readTask(app, alice, id), { status: 'active', nextExecutionAt: TASK.scheduledFor });
  t.same((await receivedEvents()).map(({ event }) => event).sort(), [
    'execution.failed',
    'execution.started',
    'task.failed',
    'task.started',
  ]);
});

t.test('Concurrent runs are all queued and run one after the other', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const answers = await Promise.all(Array.from({ length: 12 }, () => execute(alice, id)));
  t.same(
    answers.map(({ statusCode }) => statusCode),
    Array(12).fill(201),
  );
  t.equal(new Set(answers.map((answer) => answer.json().executionId)).size, 12);
  await runDue(ctx);
  t.match(await readTask(app, alice, id), { executionCount: 12 });
});

t.test('A stranger’s and an unknown task are not found, and do not run', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const id = await postTask(app, alice);
  const answer = await execute(bob, id);
  t.equal(answer.statusCode, 404);
  t.same(answer.json(), { success: false, error: 'Task not found' });
  for (const unknown of [...INVALID_IDS, '2147483647'])
    t.equal((await execute(alice, unknown)).statusCode, 404, unknown);
  t.equal(await ctx.db.$count(executions, eq(executions.taskId, id)), 0);
  t.equal(
    await ctx.db.$count(usageCounters, and(eq(usageCounters.userId, bob.id), eq(usageCounters.executions, 1))),
    0,
  );
});

t.test('A manual run and a pause do not interfere', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const answers = await Promise.all([
    execute(alice, id),
    patchTask(app, alice, id, { status: 'paused' }),
    execute(alice, id),
  ]);
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [201, 200, 201],
  );
});

t.test('Running a task needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/tasks/${id}/execute` });
});
