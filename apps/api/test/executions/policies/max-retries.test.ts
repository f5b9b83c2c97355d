import t from 'tap';
import { cancelExecution } from '../../../src/product/executions/cancel.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { retryExecution } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { testEngine } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';
import { insertTask, readRuns, readTaskRow } from '../../support/task-rows.ts';
import { patchTask, postTask, readTask } from '../../support/tasks.ts';

const DELAYS_MS = [1000, 2000, 3000, 4000];
const { app, ctx, ai, alice, clock, newProcess, runDue } = await testEngine(t, {
  EXECUTION_RETRY_DELAYS_MS: DELAYS_MS.join(','),
});

const OVERLOADED = { status: 503 };

async function countAttempts(t: Parameters<typeof runDue>[0], task: number) {
  await runDue(t);
  for (const ms of DELAYS_MS) {
    clock.advance(ms);
    await runDue(t);
  }
  return (await readRuns(ctx, task)).length;
}

for (const [values, attempts] of [
  [{ maxRetries: 0 }, 1],
  [{ maxRetries: 1 }, 2],
  [{ maxRetries: 3 }, 4],
  [{}, 4],
] as const) {
  t.test(`A failed run of a task with ${JSON.stringify(values)} is tried ${attempts} times`, async (t) => {
    ai.answer(() => OVERLOADED);
    const task = await insertTask(ctx, alice().id, values);
    t.equal(await countAttempts(t, task), attempts);
    t.match(await readTaskRow(ctx, task), { consecutiveFailures: 1 }, 'which counts as one failure');
  });
}

t.test('maxRetries adds no retry to the delays that the service has', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id, { maxRetries: 3 });
  const process = newProcess(t, { executionRetryDelaysMs: [1000] });
  for (const ms of [0, ...DELAYS_MS]) {
    clock.advance(ms);
    await enqueueDue(process.ctx);
    await process.worker.drain();
  }
  t.equal((await readRuns(ctx, task)).length, 2);
});

t.test('A change of maxRetries counts from the next failure', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id, { maxRetries: 3 });
  await runDue(t);
  await changeTask(ctx, alice(), task, { maxRetries: 1 });
  t.equal(await countAttempts(t, task), 2);
});

t.test('maxRetries is a whole number from 0 to 3', async (t) => {
  const carol = await signUp(app);
  const id = await postTask(app, carol, { maxRetries: 3 });
  t.equal((await readTask(app, carol, id)).maxRetries, 3);
  t.equal((await patchTask(app, carol, id, { maxRetries: 0 })).statusCode, 200);
  t.equal((await readTask(app, carol, id)).maxRetries, 0);
  for (const maxRetries of [-1, 4, 1.5, null, '1']) {
    const answer = await patchTask(app, carol, id, { maxRetries });
    t.match([answer.statusCode, answer.json().details], [400, { maxRetries: [String] }], `${maxRetries}`);
  }
});

t.test('A retry on demand of a task without retries is one attempt, and a cancelled one none', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id, { maxRetries: 0 });
  await runDue(t);
  const [failed] = await readRuns(ctx, task);
  await retryExecution(ctx, alice(), failed!.id);
  await runDue(t);
  t.equal((await readRuns(ctx, task)).length, 2);
  const { executionId } = await retryExecution(ctx, alice(), failed!.id);
  await cancelExecution(ctx, alice(), executionId);
  t.equal(await countAttempts(t, task), 3);
});
