import { DAY_MS } from '@carillon/contract/primitives';
import { type ERROR_CODES, executions, usageRecords } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import type { AiAnswer } from '../../support/servers/ai-server.ts';
import { insertTask, readLedger, readRun, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker, runDue } = await testEngine(t);

const OVERLOADED: AiAnswer = { status: 503, body: { error: { message: 'Overloaded' } } };
const atSecond = (seconds: number) => new Date(START.getTime() + seconds * 1000);

const failures: [AiAnswer, (typeof ERROR_CODES)[number], { retried: boolean; billed?: boolean }][] = [
  [{ status: 429 }, 'RATE_LIMIT_EXCEEDED', { retried: true }],
  [{ status: 408 }, 'TIMEOUT', { retried: true }],
  [{ status: 503 }, 'PROVIDER_UNAVAILABLE', { retried: true }],
  [{ reset: true }, 'PROVIDER_UNAVAILABLE', { retried: true, billed: true }],
  [{ body: 'nonsense' }, 'PROVIDER_UNAVAILABLE', { retried: true, billed: true }],
  [{ body: { error: { code: 429, message: 'Slow down.' } } }, 'RATE_LIMIT_EXCEEDED', { retried: true }],
  [{ body: { error: { code: 401, message: 'No.' } } }, 'AUTHENTICATION_FAILED', { retried: false }],
  [{ text: '' }, 'PROVIDER_UNAVAILABLE', { retried: true, billed: true }],
  [{ text: '', finishReason: 'length' }, 'PROVIDER_ERROR', { retried: false, billed: true }],
  [{ status: 401 }, 'AUTHENTICATION_FAILED', { retried: false }],
  [{ status: 400 }, 'INVALID_REQUEST', { retried: false }],
  [{ status: 402 }, 'QUOTA_EXCEEDED', { retried: false }],
  [{ finishReason: 'content_filter' }, 'CONTENT_FILTERED', { retried: false, billed: true }],
];
for (const [answer, errorCode, { retried, billed = false }] of failures) {
  const what = answer.status ?? JSON.stringify(answer);
  t.test(`An answer of ${what} fails as ${errorCode} and is ${retried ? '' : 'not '}retried`, async (t) => {
    ai.answer(() => answer);
    const task = await insertTask(ctx, alice().id);
    await runDue(t);
    const [run, retry, ...more] = await readRuns(ctx, task);
    t.match(run, { status: 'failed', errorCode, result: null, completedAt: START, claimToken: null });
    t.ok(run?.error);
    t.equal(retry !== undefined, retried);
    t.equal(more.length, 0);
    const [record] = await ctx.db.select().from(usageRecords).where(eq(usageRecords.executionId, run!.id));
    t.match(record, { executions: 1, day: '2026-11-20' });
    t.equal(record!.inputTokens > 0, billed);
    t.equal((run!.inputTokens ?? 0) > 0, billed);
  });
}

t.test('Retries come after 1, 5 and 15 minutes, each as an execution of its own, and no sooner', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id);
  await runDue(t);
  let due = 0;
  for (const [at, wait] of [60, 300, 900].entries()) {
    due += wait;
    const runs = await readRuns(ctx, task);
    t.match(runs.at(-1), {
      status: 'pending',
      trigger: 'retry',
      attempt: at + 2,
      retryOfId: runs.at(-2)?.id,
      plannedFor: START,
      runAt: atSecond(due),
      queuedAt: null,
      usageDay: null,
    });
    t.equal((await readTaskRow(ctx, task)).consecutiveFailures, 0);
    clock.set(new Date(atSecond(due).getTime() - 1));
    t.strictSame(await runDue(t), { queued: [], refused: [] });
    clock.set(atSecond(due));
    t.strictSame(await runDue(t), { queued: [runs.at(-1)?.id], refused: [] });
  }
  const runs = await readRuns(ctx, task);
  t.strictSame(
    runs.map(({ status, attempt }) => [status, attempt]),
    [1, 2, 3, 4].map((attempt) => ['failed', attempt]),
  );
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 1, executionCount: 4 });
  t.equal(ai.requests.length, 4);
});

t.test('A retry that succeeds ends the retries', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id);
  await runDue(t);
  ai.answer(() => ({}));
  clock.advance(60_000);
  await runDue(t);
  t.strictSame(
    (await readRuns(ctx, task)).map(({ status }) => status),
    ['failed', 'completed'],
  );
});

t.test('The provider may ask for a longer wait than the default, and not for a shorter one', async (t) => {
  for (const [seconds, wait] of [
    [3000, 3000],
    [10, 60],
  ] as const) {
    ai.answer(() => ({ status: 429, headers: { 'retry-after': String(seconds) } }));
    const task = await insertTask(ctx, alice().id);
    await runDue(t);
    const [, retry] = await readRuns(ctx, task);
    t.strictSame(retry?.runAt, atSecond(wait));
  }
});

t.test('An instant that is due while a retry waits is skipped', async (t) => {
  ai.answer(() => ({ status: 429, headers: { 'retry-after': '90' } }));
  const task = await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *' });
  await runDue(t);
  clock.set(atSecond(60));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.match(await readRuns(ctx, task), [{ status: 'failed' }, { status: 'pending', trigger: 'retry', queuedAt: null }]);
  t.match(await readLedger(ctx, task), [
    [START.toISOString(), 'ran'],
    [atSecond(60).toISOString(), 'skipped_overlap'],
  ]);
});

t.test('Pausing a task deletes the waiting retry', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id);
  await runDue(t);
  t.equal((await readRuns(ctx, task)).length, 2);
  await changeTask(ctx, alice(), task, { status: 'paused' });
  t.match(await readRun(ctx, task), { status: 'failed', attempt: 1 });
});

t.test('An execution that fails after its task was paused is not retried, and the task stays paused', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await changeTask(ctx, alice(), task, { status: 'paused' });
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { status: 'failed', attempt: 1 });
  t.match(await readTaskRow(ctx, task), { status: 'paused', consecutiveFailures: 1 });
});

t.test('Two executions of a task that fail in one transaction count as two failures', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: new Date(START.getTime() + DAY_MS) });
  for (let run = 0; run < 2; run += 1) {
    await executeTask(ctx, alice(), task);
    await newWorker(t).drain();
  }
  t.equal(await ctx.db.$count(executions, eq(executions.status, 'pending')), 2);
  await ctx.db.execute("update users set trial_ends_at = '2026-11-20T10:00:30Z'");
  clock.advance(60_000);
  const { refused } = await enqueueDue(ctx);
  t.equal(refused.length, 2);
  t.match(await readTaskRow(ctx, task), {
    consecutiveFailures: 2,
    nextExecutionAt: new Date(START.getTime() + DAY_MS),
  });
});
