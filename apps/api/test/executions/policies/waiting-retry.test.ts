import { events } from '@carillon/db';
import { and, asc, eq, sql } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import type { ClaimedExecution } from '../../../src/product/executions/pipeline/select-candidates.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { readAlertKinds } from '../../support/alerts.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { insertTask, insertTasks, insertUsers, readLedger, readRuns, readTaskRow } from '../../support/task-rows.ts';
import { BUSY_OUTCOME } from '../../support/tasks.ts';

const { ctx, ai, clock, alice, newProcess } = await testEngine(t);

type Overlap = 'skip' | 'queue' | 'cancel';

const minute = (count: number) => new Date(START.getTime() + count * 60_000);
const minutely = (overlap: Overlap, values = {}) =>
  insertTask(ctx, alice().id, { recurrencePattern: '* * * * *', overlap, ...values });
const OPTIONS = { limit: 100, after: 0 };
const start = async () => (await pipeline.claim(ctx, OPTIONS)).started;
const busy = (run: ClaimedExecution) => ({ ...BUSY_OUTCOME, ...run });
const fail = (runs: readonly ClaimedExecution[]) => inTransaction(ctx, (tx) => completeExecutions(tx, runs.map(busy)));
const end = (runs: readonly ClaimedExecution[]) =>
  inTransaction(ctx, (tx) =>
    completeExecutions(
      tx,
      runs.map((run) => buildResult(run)),
    ),
  );

async function tickAt(...given: number[]) {
  for (const count of given) {
    clock.set(minute(count));
    await enqueueDue(ctx);
  }
}

const readWaiting = async (task: number) =>
  (await readRuns(ctx, task)).filter(({ status, trigger }) => status === 'pending' && trigger === 'schedule');

/** The planned instants in the order in which their calls began. */
async function readStarts(task: number): Promise<number[]> {
  const instants = new Map((await readRuns(ctx, task)).map(({ id, plannedFor }) => [id, plannedFor?.getTime() ?? 0]));
  const started = await ctx.db
    .select({ data: events.data })
    .from(events)
    .where(and(eq(events.taskId, task), sql`'execution.started' = any(${events.kinds})`))
    .orderBy(asc(events.id));
  return started.map(({ data }) => instants.get(JSON.parse(data).execution.id) as number);
}

const isInOrder = (instants: readonly number[]) => instants.every((at, i) => i === 0 || at >= (instants[i - 1] ?? 0));

t.test('With `queue`, one planned run waits for the retries of another, and starts after the last', async (t) => {
  const task = await minutely('queue');
  await tickAt(0);
  await fail(await start());
  // The retry is due at minute 1, the next two after 5 and 15 minutes.
  for (const [at, until] of [
    [1, 2],
    [6, 7],
    [21, 22],
  ] as const) {
    await tickAt(at);
    t.equal((await readWaiting(task)).length, 1);
    const retries = await start();
    t.match(retries, [{ trigger: 'retry' }], 'not the planned run, which is queued longer');
    await fail(retries);
    if (at < 21) {
      await tickAt(until);
      t.same(await start(), [], 'nothing starts while the next retry waits');
    }
  }
  const [waiting] = await readWaiting(task);
  t.same(waiting?.plannedFor, minute(1));
  t.match(await start(), [{ id: waiting?.id }], 'once no retry is left');
  t.ok(isInOrder(await readStarts(task)));
});

t.test('With `skip`, no planned run is queued while a retry waits', async (t) => {
  const task = await minutely('skip');
  await tickAt(0);
  await fail(await start());
  await tickAt(0.5, 1);
  await fail(await start());
  await tickAt(2, 3, 4, 5);
  t.equal((await readWaiting(task)).length, 0);
  t.same(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    ['ran', ...Array.from({ length: 5 }, () => 'skipped_overlap')],
  );
});

t.test(
  'With `cancel`, a planned run takes the place of a retry that waits, and its instant is cancelled',
  async (t) => {
    const task = await minutely('cancel');
    for (const at of [0, 1, 2]) {
      await tickAt(at);
      await fail(await start());
    }
    await tickAt(3);
    await end(await start());
    t.same(
      (await readLedger(ctx, task)).map(([, fate]) => fate),
      ['cancelled', 'cancelled', 'cancelled', 'ran'],
    );
    t.same(
      (await readRuns(ctx, task)).map(({ errorCode, status }) => errorCode ?? status),
      [...Array.from({ length: 3 }, () => ['RATE_LIMIT_EXCEEDED', 'CANCELLED']).flat(), 'completed'],
    );
  },
);

t.test('The claim that follows the failure of a run starts no planned run of its task', async (t) => {
  await minutely('queue');
  await tickAt(0);
  const [run] = (await start()) as [ClaimedExecution];
  await tickAt(1);
  await fail([run]);
  t.same(await start(), []);
});

t.test('Missed instants that run one after the other wait for the retries of each', async (t) => {
  const task = await minutely('skip', { missed: 'all' });
  await tickAt(3);
  const [run] = (await start()) as [ClaimedExecution];
  await fail([run]);
  t.same(await start(), []);
  await tickAt(4);
  const retries = await start();
  t.match(retries, [{ trigger: 'retry' }]);
  for (let runs = retries; runs.length > 0; runs = await start()) await end(runs);
  const starts = await readStarts(task);
  t.equal(starts.length, 5);
  t.ok(isInOrder(starts));
});

t.test('A run on demand does not wait for a retry, and the planned run waits for both', async (t) => {
  const task = await minutely('queue');
  await tickAt(0);
  await fail(await start());
  await tickAt(1);
  await end(await start());
  await tickAt(2);
  const planned = await start();
  await fail(planned);
  await executeTask(ctx, alice(), task);
  await tickAt(2.5);
  const manual = await start();
  t.match(manual, [{ trigger: 'manual' }]);
  await end(manual);
  t.same(await start(), []);
});

t.test('A retry that is due after the next planned run counts as a failure of the alerts only', async (t) => {
  const alerts = { failuresInRow: 3 };
  const [short, long] = [
    await minutely('cancel', { alerts }),
    await minutely('queue', { alerts, recurrencePattern: null }),
  ];
  for (const at of [0, 1, 2]) {
    await tickAt(at);
    clock.advance(1000);
    await fail(await start());
  }
  t.same(await readAlertKinds(ctx, short), [['task.failing', minute(2).toISOString()]]);
  t.match(await readTaskRow(ctx, short), { status: 'active', consecutiveFailures: 0, waitingFailures: 3 });
  t.same(await readAlertKinds(ctx, long), [], 'the retries of a daily run come before the next day');
  await tickAt(3);
  await end(await start());
  t.match(await readTaskRow(ctx, short), { waitingFailures: 0 });
  t.same((await readAlertKinds(ctx, short)).at(-1)?.[0], 'task.recovered');
});

for (const overlap of ['skip', 'queue', 'cancel'] as const) {
  t.test(
    `With \`${overlap}\`, two schedulers keep the order of instants through an outage of the provider`,
    async (t) => {
      const made = await insertTasks(ctx, await insertUsers(ctx, 8), { recurrencePattern: '* * * * *', overlap });
      const processes = [newProcess(t), newProcess(t)];
      let isDown = true;
      // Some calls come through, so that retries and planned runs fall due together in many ways.
      ai.answer(() => (isDown && Math.random() < 0.9 ? { status: 503 } : {}));
      for (let at = 0; at <= 45; at += 1) {
        clock.set(minute(at));
        isDown = at < 40;
        await Promise.all([...processes, ...processes].flatMap(({ ctx, worker }) => [enqueueDue(ctx), worker.drain()]));
        for (const task of made) {
          const waiting = await readWaiting(task);
          if (waiting.length > 1) t.fail(`${waiting.length} planned runs wait at minute ${at}`);
        }
      }
      for (const task of made) {
        const starts = await readStarts(task);
        t.ok(starts.length > 5);
        t.ok(isInOrder(starts), `${starts.map((start) => (start - START.getTime()) / 60_000)}`);
      }
    },
  );
}
