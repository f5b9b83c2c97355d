import { randomUUID } from 'node:crypto';
import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/product/auth/sessions.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { handBackExecutions, rescueExecutions } from '../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { getExecutionDetails } from '../../src/product/executions/read.ts';
import { executeTask, retryExecution } from '../../src/product/executions/start.ts';
import { changeTask } from '../../src/product/tasks/write.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START } from '../support/context.ts';
import { buildCaller, testEngine } from '../support/engine.ts';
import { passTime } from '../support/leases.ts';
import { signUpBob } from '../support/people.ts';
import { insertTask, insertUsage, PROMPT, readRuns } from '../support/task-rows.ts';
import { INVALID_IDS } from '../support/tasks.ts';

const { app, ctx, ai, clock, alice, newWorker } = await testEngine(t);

const atSecond = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const LATER = { nextExecutionAt: atSecond(86_400) };

const DEAD = 'The process that ran it was found dead: queued again.';

/** The steps of an execution: seconds since the start of the clock, and the message. */
async function logOf(id: number): Promise<[number, string][]> {
  const { logs } = await getExecutionDetails(ctx, alice(), id);
  return logs.map(({ timestamp, message }) => [(timestamp.getTime() - START.getTime()) / 1000, message]);
}
const lastRun = async (task: number) => (await readRuns(ctx, task)).at(-1)!;

t.test('Details show an execution with its task, its steps and its usage', async (t) => {
  ai.answer(() => ({ model: 'test-model-1', usage: { promptTokens: 12, completionTokens: 3, cost: 0.25 } }));
  const task = await insertTask(ctx, alice().id, { name: 'Morning' });
  clock.set(atSecond(2));
  await enqueueDue(ctx);
  clock.set(atSecond(2.5));
  await newWorker(t).drain();
  const { id } = await lastRun(task);
  const { token } = await openSession(ctx, alice().id);
  const answer = await app.inject({
    url: `/api/executions/${id}/details`,
    headers: { authorization: `Bearer ${token}` },
  });
  t.equal(answer.statusCode, 200);
  const { success, execution } = answer.json();
  t.equal(success, true);
  const plain = await app.inject({ url: `/api/executions/${id}`, headers: { authorization: `Bearer ${token}` } });
  const { task: shown, logs, metadata, ...rest } = execution;
  t.same(rest, plain.json().execution, 'all that one run has');
  t.same(shown, { id: task, name: 'Morning', prompt: PROMPT, model: 'test-model' });
  t.same(metadata, { model: 'test-model-1', tokens: { prompt: 12, completion: 3, total: 15 }, cost: 0.25 });
  const took = rest.processingTimeMs;
  t.same(logs, [
    { timestamp: '2026-11-20T10:00:00.000Z', message: 'Planned to run.' },
    { timestamp: '2026-11-20T10:00:02.000Z', message: 'Queued by the schedule.' },
    { timestamp: '2026-11-20T10:00:02.500Z', message: 'Started, 2.5 s after its planned instant.' },
    { timestamp: '2026-11-20T10:00:02.500Z', message: 'Asking test-model with 0 attachments.' },
    { timestamp: '2026-11-20T10:00:02.500Z', message: 'test-model-1 took 12 prompt and 3 completion tokens.' },
    { timestamp: '2026-11-20T10:00:02.500Z', message: `Completed after ${took} ms.` },
  ]);
});

t.test('Details that are not known yet are null', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId } = await executeTask(ctx, alice(), task);
  t.match(await getExecutionDetails(ctx, alice(), executionId), {
    status: 'pending',
    metadata: { model: null, tokens: null, cost: null },
  });
  t.same(await logOf(executionId), [[0, 'Queued on demand.']]);
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  t.match(await getExecutionDetails(ctx, alice(), executionId), {
    status: 'running',
    metadata: { model: null, tokens: null, cost: null },
  });
  t.same(await logOf(executionId), [
    [0, 'Queued on demand.'],
    [0, 'Started.'],
    [0, 'Asking test-model with 0 attachments.'],
  ]);
});

t.test('A failure shows its code, its message and its retry', async (t) => {
  ai.answer(() => ({ status: 503, body: { error: { message: 'Overloaded' } } }));
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const [failed, retry] = await readRuns(ctx, task);
  const log = await logOf(failed!.id);
  t.same(log.at(-2), [0, `Failed as PROVIDER_UNAVAILABLE after ${failed!.processingTimeMs} ms: ${failed!.error}`]);
  t.same(log.at(-1), [0, `Retry scheduled: execution ${retry!.id}, attempt 2, at 2026-11-20T10:01:00.000Z.`]);
  t.match((await getExecutionDetails(ctx, alice(), failed!.id)).metadata, { model: null, tokens: null, cost: null });
  t.same(await logOf(retry!.id), [
    [0, `Scheduled as a retry of execution ${failed!.id}, attempt 2. It waits until 2026-11-20T10:01:00.000Z.`],
  ]);

  ai.answer(() => ({ status: 400 }));
  clock.set(atSecond(61));
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await logOf(retry!.id), [
    [0, `Scheduled as a retry of execution ${failed!.id}, attempt 2.`],
    [61, 'Queued.'],
    [61, 'Started.'],
    [61, 'Asking test-model with 0 attachments.'],
    [61, /^Failed as INVALID_REQUEST/],
  ]);
  clock.set(atSecond(90));
  const again = await retryExecution(ctx, alice(), retry!.id);
  t.same((await logOf(retry!.id)).at(-1), [90, `Retried on demand: execution ${again.executionId}.`]);
  t.same(await logOf(again.executionId), [[90, `Queued on demand, as a retry of execution ${retry!.id}.`]]);
  await ctx.db.update(executions).set({ retryOfId: null }).where(eq(executions.id, retry!.id));
  t.same(
    (await logOf(retry!.id))[0],
    [0, 'Scheduled as a retry of an execution, attempt 2.'],
    'although the original is deleted',
  );
});

t.test('Attachments are counted in the steps', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId } = await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  for (const [count, words] of [
    [1, '1 attachment'],
    [2, '2 attachments'],
  ] as const) {
    const attachments = Array.from({ length: count }, () => randomUUID());
    await ctx.db.update(tasks).set({ attachments }).where(eq(tasks.id, task));
    t.same((await logOf(executionId))[2], [0, `Asking test-model with ${words}.`]);
  }
});

t.test('An execution that a webhook triggered says so', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId } = await executeTask(ctx, alice(), task, 'inbound');
  t.same(await logOf(executionId), [[0, 'Queued by an inbound webhook.']]);
});

t.test('Each death of a process is shown, and the start after it', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId: id } = await executeTask(ctx, alice(), task);
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  await passTime({ ctx, clock }, 31_000);
  t.same(await rescueExecutions(ctx), [id]);
  await ctx.db
    .update(executions)
    .set({ interruptedAt: [atSecond(31)] })
    .where(eq(executions.id, id));
  const begun: [number, string][] = [
    [0, 'Queued on demand.'],
    [0, 'Started.'],
    [0, 'Asking test-model with 0 attachments.'],
  ];
  t.same(await logOf(id), [...begun, [31, DEAD]]);
  clock.set(atSecond(40));
  await newWorker(t).drain();
  t.match(await logOf(id), [
    [0, 'Queued on demand.'],
    [31, DEAD],
    [40, 'Started again.'],
    [40, 'Asking test-model with 0 attachments.'],
    [40, /took \d+ prompt and \d+ completion tokens\.$/],
    [40, /^Completed after \d+ ms\.$/],
  ]);
});

t.test('An execution that was interrupted too often ends with the last death', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId: id } = await executeTask(ctx, alice(), task);
  const deaths: Date[] = [];
  for (let n = 1; n <= 4; n++) {
    await pipeline.claim(ctx, { limit: 1, after: 0 });
    await passTime({ ctx, clock }, 31_000);
    if ((await rescueExecutions(ctx)).length > 0) deaths.push(ctx.now());
  }
  await ctx.db.update(executions).set({ interruptedAt: deaths }).where(eq(executions.id, id));
  const log = await logOf(id);
  t.same(
    log.filter(([, message]) => message === DEAD),
    [31, 62, 93].map((at) => [at, DEAD]),
  );
  t.match(log.slice(-2), [
    [124, /^test-model took \d+ prompt and 0 completion tokens, an estimate\.$/],
    [124, 'Failed as INTERRUPTED: The process that ran it died, more than once.'],
  ]);
});

t.test('An execution that a stopping process handed back is shown as queued again', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId: id } = await executeTask(ctx, alice(), task);
  const { started } = await pipeline.claim(ctx, { limit: 1, after: 0 });
  clock.set(atSecond(3));
  await handBackExecutions(ctx, started);
  t.same((await logOf(id)).at(-1), [3, 'The process that ran it was stopped: queued again.']);
});

t.test('An execution that a quota refused shows no start', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 50 });
  const task = await insertTask(ctx, alice().id);
  clock.set(atSecond(1));
  await enqueueDue(ctx);
  const { id } = await lastRun(task);
  t.match(await logOf(id), [
    [0, 'Planned to run.'],
    [1, 'Queued by the schedule.'],
    [1, /^Failed as QUOTA_EXCEEDED: The quota of 50 executions is used up/],
  ]);
});

t.test('A task that changed since is shown as it is now, and its execution with the model that it asked', async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId } = await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  clock.set(atSecond(5));
  await changeTask(ctx, alice(), task, { aiModel: 'another-model' });
  t.same((await logOf(executionId))[2], [0, 'Asking test-model.']);
  t.match(await getExecutionDetails(ctx, alice(), executionId), {
    request: { model: 'test-model' },
    task: { model: 'another-model' },
  });
  await ctx.db.update(executions).set({ request: null });
  t.same((await logOf(executionId))[2], [0, 'Asking the model.'], 'an execution of an older version');
  t.equal(await ctx.db.$count(tasks), 1);
});

t.test("A stranger's and an unknown execution are not found", async (t) => {
  const task = await insertTask(ctx, alice().id, LATER);
  const { executionId } = await executeTask(ctx, alice(), task);
  const { headers, id: bob } = await signUpBob(app);
  const get = (id: number | string) => app.inject({ url: `/api/executions/${id}/details`, headers });
  const answer = await get(executionId);
  t.equal(answer.statusCode, 404);
  t.same(answer.json(), { success: false, error: 'Execution not found' });
  for (const unknown of [...INVALID_IDS, '2147483647']) t.equal((await get(unknown)).statusCode, 404, unknown);
  await t.rejects(getExecutionDetails(ctx, buildCaller(bob), executionId), { message: 'Execution not found' });
  await assertNeedsSession(t, app, { url: `/api/executions/${executionId}/details` });
});
