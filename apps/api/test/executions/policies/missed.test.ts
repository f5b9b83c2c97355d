import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import {
  insertTask,
  insertTasks,
  insertUsage,
  insertUsers,
  readLedger,
  readRuns,
  readTaskRow,
} from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker, newProcess } = await testEngine(t);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLICIES = ['latest', 'none', 'all'] as const;
/** After many missed instants. */
const RUNS = { latest: 1, none: 0, all: 10 };

const after = (ms: number) => new Date(START.getTime() + ms);
const hourly = (missed: (typeof POLICIES)[number]) =>
  insertTask(ctx, alice().id, { recurrencePattern: '0 * * * *', missed });
const readFates = async (task: number) => (await readLedger(ctx, task)).map(([, fate]) => fate);
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

/** The planned instants of the runs of a task, as hours after `START`. */
const readHours = async (task: number) =>
  (await readRuns(ctx, task)).map(({ plannedFor }) => ((plannedFor?.getTime() ?? 0) - START.getTime()) / HOUR_MS);

t.test('After an outage of a day, `latest` makes up for all missed instants with one run', async (t) => {
  const task = await hourly('latest');
  clock.set(after(24.5 * HOUR_MS));
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  t.strictSame(await readFates(task), [...times(24, 'missed'), 'late']);
  t.strictSame(await readHours(task), [24]);
});

t.test('After an outage of a day, `none` makes up for nothing and continues with the next instant', async (t) => {
  const task = await hourly('none');
  clock.set(after(24.5 * HOUR_MS));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readFates(task), times(25, 'missed'));
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, after(25 * HOUR_MS));
  clock.set(after(25 * HOUR_MS));
  await enqueueDue(ctx);
  t.strictSame(await readFates(task), [...times(25, 'missed'), 'ran']);
});

t.test(
  'After an outage of a day, `all` runs the latest 10 missed instants, in order of time and one by one',
  async (t) => {
    const task = await hourly('all');
    clock.set(after(24.5 * HOUR_MS));
    t.equal((await enqueueDue(ctx)).queued.length, 10);
    t.strictSame(await readFates(task), [...times(15, 'missed'), ...times(10, 'late')]);
    t.strictSame(await readHours(task), [15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
    ai.answer(() => {
      clock.advance(1000);
      return {};
    });
    await newWorker(t).drain();
    const runs = await readRuns(ctx, task);
    t.ok(runs.every(({ status }) => status === 'completed'));
    const steps = runs.flatMap(({ startedAt, completedAt }) => [startedAt?.getTime(), completedAt?.getTime()]);
    t.strictSame(
      steps,
      steps.toSorted((a, b) => Number(a) - Number(b)),
    );
    t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, after(25 * HOUR_MS));
  },
);

t.test('Fewer than 10 missed instants all run with `all`', async (t) => {
  const task = await hourly('all');
  clock.set(after(3 * HOUR_MS));
  await enqueueDue(ctx);
  t.strictSame(await readFates(task), ['late', 'late', 'late', 'ran']);
  t.strictSame(await readHours(task), [0, 1, 2, 3]);
});

t.test('More missed instants than one batch holds leave the latest 10 to `all`', async (t) => {
  for (const count of [999, 1000, 1001, 1005, 1010, 2500]) {
    const first = ctx.now();
    const task = await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *', missed: 'all' });
    clock.advance((count - 1) * MINUTE_MS);
    t.equal((await enqueueDue(ctx)).queued.length, 10, `${count} instants`);
    t.strictSame(await readFates(task), [...times(count - 10, 'missed'), ...times(9, 'late'), 'ran']);
    const latest = (await readRuns(ctx, task)).map(({ plannedFor }) => plannedFor);
    t.strictSame(
      latest,
      Array.from({ length: 10 }, (_, at) => new Date(first.getTime() + (count - 10 + at) * MINUTE_MS)),
    );
    await newWorker(t).drain();
    clock.advance(MINUTE_MS / 2);
    await changeTask(ctx, alice(), task, { status: 'paused' });
    clock.advance(MINUTE_MS / 2);
  }
});

t.test('Many tasks with `all` share a batch, and each gets its latest 10', async (t) => {
  const tasks: number[] = [];
  for (let at = 0; at < 5; at++) {
    tasks.push(await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *', missed: 'all' }));
  }
  clock.advance(399 * MINUTE_MS);
  t.equal((await enqueueDue(ctx)).queued.length, 50);
  for (const task of tasks) t.strictSame(await readFates(task), [...times(390, 'missed'), ...times(9, 'late'), 'ran']);
});

t.test('An instant exactly 5 minutes ago still runs with `none`, one a millisecond older does not', async (t) => {
  const tooLate = await hourly('none');
  const scheduledFor = after(1);
  const intime = await insertTask(ctx, alice().id, { missed: 'none', scheduledFor, nextExecutionAt: scheduledFor });
  clock.set(after(5 * MINUTE_MS + 1));
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  t.strictSame(await readFates(intime), ['late']);
  t.strictSame(await readFates(tooLate), ['missed']);
});

t.test('A once task runs late under every policy', async (t) => {
  for (const missed of POLICIES) {
    clock.set(START);
    const task = await insertTask(ctx, alice().id, { recurrence: 'once', missed });
    clock.set(after(24 * HOUR_MS));
    t.equal((await enqueueDue(ctx)).queued.length, 1);
    t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'late']], missed);
  }
});

t.test('Each run that makes up for a missed instant needs quota, the oldest first', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 47 });
  const task = await hourly('all');
  clock.set(after(5.5 * HOUR_MS));
  const { queued, refused } = await enqueueDue(ctx);
  t.strictSame([queued.length, refused.length], [3, 3]);
  t.strictSame(await readFates(task), [...times(3, 'late'), ...times(3, 'over_quota')]);
  const runs = await readRuns(ctx, task);
  t.strictSame(
    runs.map(({ status, errorCode }) => errorCode ?? status),
    [...times(3, 'pending'), ...times(3, 'QUOTA_EXCEEDED')],
  );
});

t.test('A task whose run is live gives the places of `all` to the policy for overlaps', async (t) => {
  const task = await hourly('all');
  await enqueueDue(ctx);
  clock.set(after(3 * HOUR_MS));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readFates(task), ['ran', ...times(3, 'skipped_overlap')]);
});

for (const missed of POLICIES) {
  const runs = RUNS[missed];
  t.test(
    `Two processes that tick at once with \`${missed}\` record each instant once, with ${runs} runs`,
    async (t) => {
      const processes = [newProcess(t), newProcess(t)];
      const settings = { recurrencePattern: '0 * * * *', missed };
      const tasks = await insertTasks(ctx, await insertUsers(ctx, 10), settings);
      clock.set(after(24.5 * HOUR_MS));
      const ticks = [...processes, ...processes].map((process) => enqueueDue(process.ctx));
      const queued = (await Promise.all(ticks)).flatMap(({ queued }) => queued);
      t.equal(new Set(queued).size, 10 * runs);
      for (const task of tasks) {
        t.equal((await readLedger(ctx, task)).length, 25);
        t.equal((await readRuns(ctx, task)).length, runs);
      }
      await Promise.all(processes.map(({ worker }) => worker.drain()));
    },
  );
}
