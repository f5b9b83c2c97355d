import { DAY_MS } from '@carillon/contract/primitives';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/product/auth/sessions.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { executeTask, retryExecution } from '../../src/product/executions/start.ts';
import { changeTask } from '../../src/product/tasks/write.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START } from '../support/context.ts';
import { buildCaller, testEngine } from '../support/engine.ts';
import { passTime } from '../support/leases.ts';
import { signUpBob } from '../support/people.ts';
import { insertTask, insertUsage, readRuns, readTaskRow, readUsage } from '../support/task-rows.ts';
import { INVALID_IDS } from '../support/tasks.ts';

const { app, ctx, ai, clock, alice, newWorker } = await testEngine(t);

const OVERLOADED = { status: 503 };
const WRONG = { status: 400 };
const atSecond = (seconds: number) => new Date(START.getTime() + seconds * 1000);

/** A task whose only execution has failed, for good or with a waiting retry. */
async function failedRun(t: Parameters<typeof newWorker>[0], answer: { status: number }, values = {}) {
  ai.answer(() => answer);
  const task = await insertTask(ctx, alice().id, values);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  ai.answer(() => ({}));
  ai.requests.length = 0;
  const [run] = await readRuns(ctx, task);
  return { task, id: run!.id };
}

t.test('A failed execution is retried on demand, by a new execution that names the failed one', async (t) => {
  const { task, id } = await failedRun(t, WRONG);
  clock.set(atSecond(90));
  const worker = newWorker(t);
  let wakes = 0;
  const watched = { ...ctx, worker: { ...ctx.worker, wakeExecutions: () => void wakes++ } };
  const retried = await retryExecution(watched, alice(), id);
  const [failed, retry, ...more] = await readRuns(ctx, task);
  t.same(retried, { executionId: retry?.id, status: 'pending', startedAt: atSecond(90), isNew: true });
  t.equal(wakes, 1, 'and the worker is woken');
  t.equal(more.length, 0);
  t.match(failed, { id, status: 'failed' });
  t.match(retry, {
    status: 'pending',
    trigger: 'manual',
    retryOfId: id,
    attempt: 1,
    plannedFor: null,
    runAt: atSecond(90),
    queuedAt: atSecond(90),
    usageDay: '2026-11-20',
    createdAt: atSecond(90),
    viaWebhook: false,
  });
  await worker.drain();
  t.match((await readRuns(ctx, task))[1], { status: 'completed' });
  t.equal(ai.requests.length, 1);
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 0, executionCount: 2 });
  t.match(await readUsage(ctx, alice().id), { executions: 2 });
});

t.test('A retry on demand completes a failed once task', async (t) => {
  const { task, id } = await failedRun(t, WRONG, { recurrence: 'once' });
  t.match(await readTaskRow(ctx, task), { status: 'failed' });
  await retryExecution(ctx, alice(), id);
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, task), { status: 'completed' });
});

t.test('A waiting retry is queued now instead of a second one', async (t) => {
  const { task, id } = await failedRun(t, OVERLOADED);
  clock.set(atSecond(10));
  const [, waiting] = await readRuns(ctx, task);
  t.match(waiting, { queuedAt: null, runAt: atSecond(60), usageDay: null });
  t.match(await readUsage(ctx, alice().id), { executions: 1 });
  t.same(await retryExecution(ctx, alice(), id), {
    executionId: waiting?.id,
    status: 'pending',
    startedAt: atSecond(10),
    isNew: false,
  });
  t.match(await readUsage(ctx, alice().id), { executions: 2 }, 'and is admitted to the quota');
  await newWorker(t).drain();
  clock.set(atSecond(60));
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const runs = await readRuns(ctx, task);
  t.match(runs, [{ status: 'failed' }, { status: 'completed', trigger: 'retry', attempt: 2, plannedFor: START }]);
  t.equal(runs.length, 2);
  t.equal(ai.requests.length, 1);
});

t.test('A waiting retry of a retry is found too', async (t) => {
  const { task, id } = await failedRun(t, OVERLOADED);
  ai.answer(() => OVERLOADED);
  clock.set(atSecond(60));
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const [, second, third] = await readRuns(ctx, task);
  t.match([second, third], [{ status: 'failed' }, { status: 'pending', attempt: 3, queuedAt: null }]);
  t.match(await retryExecution(ctx, alice(), id), { executionId: third?.id, isNew: false });
  t.match(await retryExecution(ctx, alice(), second!.id), { executionId: third?.id, isNew: false });
  t.equal((await readRuns(ctx, task)).length, 3);
});

t.test('A retry that is queued or running is returned as it is, and charged once', async (t) => {
  const { id } = await failedRun(t, WRONG);
  const first = await retryExecution(ctx, alice(), id);
  clock.set(atSecond(5));
  const again = { executionId: first.executionId, isNew: false };
  t.same(await retryExecution(ctx, alice(), id), { ...again, status: 'pending', startedAt: START });
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  clock.set(atSecond(7));
  t.same(await retryExecution(ctx, alice(), id), { ...again, status: 'running', startedAt: atSecond(5) });
  t.match(await readUsage(ctx, alice().id), { executions: 2 });
});

t.test('An execution can be retried again once its retry has ended', async (t) => {
  const { task, id } = await failedRun(t, WRONG);
  for (let n = 0; n < 3; n++) {
    t.match(await retryExecution(ctx, alice(), id), { isNew: true });
    await newWorker(t).drain();
  }
  t.equal((await readRuns(ctx, task)).length, 4);
});

t.test('The retry of an execution that an inbound webhook caused is marked so too', async (t) => {
  ai.answer(() => WRONG);
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: atSecond(DAY_MS) });
  const { executionId } = await executeTask(ctx, alice(), task, 'inbound');
  await newWorker(t).drain();
  await retryExecution(ctx, alice(), executionId);
  t.match((await readRuns(ctx, task))[1], { trigger: 'manual', viaWebhook: true, retryOfId: executionId });
});

t.test('50 retries at once create one execution, and charge one', async (t) => {
  for (const answer of [WRONG, OVERLOADED]) {
    const { task, id } = await failedRun(t, answer);
    const before = (await readUsage(ctx, alice().id)).executions;
    const answers = await Promise.all(Array.from({ length: 50 }, () => retryExecution(ctx, alice(), id)));
    t.equal(new Set(answers.map(({ executionId }) => executionId)).size, 1);
    t.equal(answers.filter(({ isNew }) => isNew).length, answer === WRONG ? 1 : 0);
    t.equal((await readRuns(ctx, task)).length, 2);
    t.equal((await readUsage(ctx, alice().id)).executions, before + 1);
    await newWorker(t).drain();
  }
  t.equal(ai.requests.length, 1, 'asked once for the latter');
});

t.test('A retry on demand and the retry that is due at the same moment are one execution', async (t) => {
  const ids: { task: number; id: number }[] = [];
  for (let n = 0; n < 6; n++) ids.push(await failedRun(t, OVERLOADED, { nextExecutionAt: START }));
  clock.set(atSecond(60));
  const worker = newWorker(t);
  await Promise.all([
    ...ids.map(({ id }) => retryExecution(ctx, alice(), id)),
    enqueueDue(ctx),
    worker.drain(),
    ...ids.map(({ id }) => retryExecution(ctx, alice(), id)),
  ]);
  await enqueueDue(ctx);
  await worker.drain();
  for (const { task } of ids) {
    const runs = await readRuns(ctx, task);
    t.ok(runs.length <= 3);
    // If the due retry ended first, the one on demand is a second one.
    t.ok(runs.filter(({ trigger }) => trigger === 'retry').length === 1);
    t.ok(runs.slice(1).every(({ status }) => status === 'completed'));
  }
});

t.test('A retry on demand beside a pause that deletes the waiting retry leaves one execution at most', async (t) => {
  const { task, id } = await failedRun(t, OVERLOADED);
  await Promise.all([changeTask(ctx, alice(), task, { status: 'paused' }), retryExecution(ctx, alice(), id)]);
  await newWorker(t).drain();
  t.equal((await readRuns(ctx, task)).length, 2);
  t.equal(ai.requests.length, 1);
});

t.test('Only a failed execution is retried: any other is a 409 that names its status', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [run] = await readRuns(ctx, task);
  const refusal = (status: string) => {
    return {
      kind: 'conflict',
      message: `This execution is ${status} and cannot be retried, because only failed executions can.`,
    };
  };
  await t.rejects(retryExecution(ctx, alice(), run!.id), refusal('pending'));
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  await t.rejects(retryExecution(ctx, alice(), run!.id), refusal('running'));
  await passTime({ ctx, clock }, 31_000);
  await rescueExecutions(ctx);
  await newWorker(t).drain();
  await t.rejects(retryExecution(ctx, alice(), run!.id), refusal('completed'));
  t.equal((await readRuns(ctx, task)).length, 1);
});

for (const [what, answer] of [
  ['a run that failed for good', WRONG],
  ['a run whose retry waits', OVERLOADED],
] as const) {
  t.test(`${what} is not retried over quota: 402, and nothing changes`, async (t) => {
    const { task, id } = await failedRun(t, answer);
    const before = await readRuns(ctx, task);
    await insertUsage(ctx, alice().id, { executions: 49 });
    const details = { resource: 'executions', used: 50, limit: 50, resetAt: '2026-11-21T00:00:00.000Z' };
    const refused = await retryExecution(ctx, alice(), id).catch((error) => error);
    t.match(refused, { kind: 'over_quota', details });
    t.same(await readRuns(ctx, task), before);
    t.match(await readUsage(ctx, alice().id), { executions: 50 });
  });
}

t.test('The last execution of a daily quota is used once', async (t) => {
  const runs = [await failedRun(t, WRONG), await failedRun(t, WRONG)];
  await insertUsage(ctx, alice().id, { executions: 47 });
  const answers = await Promise.allSettled(runs.map(({ id }) => retryExecution(ctx, alice(), id)));
  t.same(answers.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.match(await readUsage(ctx, alice().id), { executions: 50 });
});

t.test('The route answers 201 for a new execution, 200 for a live one, and errors in the envelope', async (t) => {
  const { id } = await failedRun(t, WRONG);
  const { token } = await openSession(ctx, alice().id);
  const headers = { authorization: `Bearer ${token}` };
  const post = (id: number | string) => app.inject({ method: 'POST', url: `/api/executions/${id}/retry`, headers });
  const made = await post(id);
  t.equal(made.statusCode, 201);
  const { executionId } = made.json();
  const body = { success: true, executionId, status: 'pending', startedAt: START.toISOString() };
  t.same(made.json(), body);
  const again = await post(id);
  t.same([again.statusCode, again.json()], [200, body]);
  const conflict = await post(executionId);
  t.equal(conflict.statusCode, 409);
  t.same(conflict.json(), {
    success: false,
    error: 'This execution is pending and cannot be retried, because only failed executions can.',
  });
  for (const unknown of [...INVALID_IDS, '2147483647']) t.equal((await post(unknown)).statusCode, 404, unknown);
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/executions/${id}/retry` });
});

t.test("A stranger's execution is not found, and nothing is charged", async (t) => {
  const { task, id } = await failedRun(t, OVERLOADED);
  const bob = await signUpBob(app);
  const answer = await app.inject({ method: 'POST', url: `/api/executions/${id}/retry`, headers: bob.headers });
  t.equal(answer.statusCode, 404);
  t.same(answer.json(), { success: false, error: 'Execution not found' });
  await t.rejects(retryExecution(ctx, buildCaller(bob.id), id), { message: 'Execution not found' });
  t.match(await readRuns(ctx, task), [{ status: 'failed' }, { status: 'pending', queuedAt: null }]);
  t.match(await readUsage(ctx, bob.id), { executions: 0 });
});

t.test('A caller who was deactivated meanwhile starts nothing', async (t) => {
  const { task, id } = await failedRun(t, WRONG);
  await ctx.db.execute(sql`update users set is_active = false where id = ${alice().id}`);
  await t.rejects(retryExecution(ctx, alice(), id), { message: 'Execution not found' });
  t.equal((await readRuns(ctx, task)).length, 1);
});
