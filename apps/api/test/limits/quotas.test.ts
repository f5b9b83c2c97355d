import { settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { AppError } from '../../src/errors.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../src/product/executions/start.ts';
import { deleteTask } from '../../src/product/tasks/delete.ts';
import { START } from '../support/context.ts';
import { testEngine } from '../support/engine.ts';
import {
  insertTask,
  insertTasks,
  insertUsage,
  readLedger,
  readRun,
  readRuns,
  readTaskRow,
  readUsage,
} from '../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker } = await testEngine(t);

const DAY_END = '2026-11-21T00:00:00.000Z';
const MONTH_END = '2026-12-01T00:00:00.000Z';

type Standing = Partial<Pick<typeof users.$inferSelect, 'plan' | 'role' | 'trialEndsAt' | 'isActive'>>;
const setAlice = (standing: Standing) => ctx.db.update(users).set(standing).where(eq(users.id, alice().id));

/** The error of a manual run; null if it is admitted. */
async function refusalOf(task: number) {
  try {
    await executeTask(ctx, alice(), task);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: error.kind, ...error.details };
  }
}

const quotas: [string, Standing, { executions?: number; tokens?: number; day?: string }, object][] = [
  [
    '50 executions a day on trial',
    { plan: 'trial' },
    { executions: 50 },
    { resource: 'executions', limit: 50, resetAt: DAY_END },
  ],
  [
    '500 executions a month on trial',
    { plan: 'trial' },
    { executions: 500, day: '2026-11-01' },
    { resource: 'executions', limit: 500, resetAt: MONTH_END },
  ],
  [
    '100,000 tokens a day on trial',
    { plan: 'trial' },
    { tokens: 1e5 },
    { resource: 'tokens', limit: 1e5, resetAt: DAY_END },
  ],
  [
    '1,000,000 tokens a month on trial',
    { plan: 'trial' },
    { tokens: 1e6, day: '2026-11-02' },
    { resource: 'tokens', limit: 1e6, resetAt: MONTH_END },
  ],
  [
    '500 executions a day on pro',
    { plan: 'pro' },
    { executions: 500 },
    { resource: 'executions', limit: 500, resetAt: DAY_END },
  ],
  [
    '10,000 executions a month on pro',
    { plan: 'pro' },
    { executions: 10_000, day: '2026-11-19' },
    { resource: 'executions', limit: 10_000, resetAt: MONTH_END },
  ],
  ['1,000,000 tokens a day on pro', { plan: 'pro' }, { tokens: 1e6 }, { resource: 'tokens', limit: 1e6 }],
  [
    '20,000,000 tokens a month on pro',
    { plan: 'pro' },
    { tokens: 2e7, day: '2026-11-01' },
    { resource: 'tokens', limit: 2e7 },
  ],
  ['the pro quotas of an admin', { role: 'ADMIN' }, { executions: 500 }, { resource: 'executions', limit: 500 }],
];
for (const [what, standing, full, breach] of quotas) {
  t.test(`${what}: the last one runs, the next one is rejected`, async (t) => {
    await setAlice(standing);
    const task = await insertTask(ctx, alice().id);
    const resource = full.executions ? 'executions' : 'tokens';
    const limit = full[resource] as number;
    await insertUsage(ctx, alice().id, { ...full, [resource]: limit - 1 });
    t.equal(await refusalOf(task), null);
    if (resource === 'tokens') await insertUsage(ctx, alice().id, { tokens: 1 });
    t.match(await refusalOf(task), { kind: 'over_quota', used: limit, ...breach });
    t.equal((await readRuns(ctx, task)).length, 1);
  });
}

t.test('The quotas of a day and of a month reset with the next one, in UTC', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await insertUsage(ctx, alice().id, { executions: 50 });
  clock.set('2026-11-20T23:59:59.999Z');
  t.match(await refusalOf(task), { resource: 'executions' });
  clock.set(DAY_END);
  t.equal(await refusalOf(task), null);
  await insertUsage(ctx, alice().id, { executions: 449, day: '2026-11-10' });
  t.match(await refusalOf(task), { resource: 'executions', limit: 500 });
  await setAlice({ trialEndsAt: new Date('2027-01-01') });
  clock.set(MONTH_END);
  t.equal(await refusalOf(task), null);
});

t.test('A system setting that is smaller than the plan applies, a larger one does not', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 2 });
  await insertUsage(ctx, alice().id, { executions: 2 });
  t.match(await refusalOf(task), { resource: 'executions', used: 2, limit: 2 });
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 1000 });
  await insertUsage(ctx, alice().id, { executions: 48 });
  t.match(await refusalOf(task), { resource: 'executions', used: 50, limit: 50 });
});

t.test('After the trial everything is rejected, except for the pro plan and admins', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await setAlice({ trialEndsAt: new Date(START.getTime() + 1000) });
  t.equal(await refusalOf(task), null);
  clock.advance(1000);
  t.strictSame(await refusalOf(task), {
    kind: 'over_quota',
    resource: 'trial',
    used: null,
    limit: null,
    resetAt: null,
  });
  await setAlice({ plan: 'pro' });
  t.equal(await refusalOf(task), null);
  await setAlice({ plan: 'trial', role: 'ADMIN' });
  t.equal(await refusalOf(task), null);
});

t.test('A planned run over quota is recorded as failed, and never retried', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await insertUsage(ctx, alice().id, { executions: 50 });
  const { queued, refused } = await enqueueDue(ctx);
  const run = await readRun(ctx, task);
  t.strictSame({ queued, refused }, { queued: [], refused: [run.id] });
  t.match(run, { status: 'failed', errorCode: 'QUOTA_EXCEEDED', startedAt: null, usageDay: null, inputTokens: null });
  t.match(run.error, /50 executions .* 2026-11-21/);
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'over_quota']]);
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 1, executionCount: 0 });
  t.match(await readUsage(ctx, alice().id), { executions: 50 });
});

t.test('Of many tasks that are due together, as many run as the quota allows', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 47 });
  await insertTasks(
    ctx,
    Array.from({ length: 10 }, () => alice().id),
  );
  const { queued, refused } = await enqueueDue(ctx);
  t.strictSame([queued.length, refused.length], [3, 7]);
  t.match(await readUsage(ctx, alice().id), { executions: 50 });
});

t.test('A `once` task that is over quota has failed', async (t) => {
  await setAlice({ trialEndsAt: START });
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  await enqueueDue(ctx);
  t.match(await readRun(ctx, task), { errorCode: 'QUOTA_EXCEEDED', error: 'The trial has ended.' });
  t.equal((await readTaskRow(ctx, task)).status, 'failed');
});

t.test('Each retry counts as an execution, and fails finally over quota', async (t) => {
  ai.answer(() => ({ status: 503 }));
  const task = await insertTask(ctx, alice().id);
  await insertUsage(ctx, alice().id, { executions: 48 });
  for (const executions of [49, 50, 50]) {
    await enqueueDue(ctx);
    await newWorker(t).drain();
    t.match(await readUsage(ctx, alice().id), { executions });
    clock.advance(300_000);
  }
  t.match(await readRuns(ctx, task), [
    { errorCode: 'PROVIDER_UNAVAILABLE' },
    { errorCode: 'PROVIDER_UNAVAILABLE', attempt: 2 },
    { errorCode: 'QUOTA_EXCEEDED', attempt: 3, startedAt: null },
  ]);
  t.match(await readTaskRow(ctx, task), { consecutiveFailures: 1 });
});

t.test('The retry of an account that was deactivated meanwhile is deleted', async (t) => {
  ai.answer(() => ({ status: 503 }));
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  await setAlice({ isActive: false });
  clock.advance(60_000);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.match(await readRun(ctx, task), { status: 'failed' });
});

t.test(
  'An execution that is deleted before it started gives its quota back, one that had started does not',
  async (t) => {
    const [waiting, started] = await insertTasks(ctx, [alice().id, alice().id], { nextExecutionAt: null });
    await executeTask(ctx, alice(), started!);
    await newWorker(t).drain();
    await executeTask(ctx, alice(), waiting!);
    t.match(await readUsage(ctx, alice().id), { executions: 2 });
    await deleteTask(ctx, alice(), waiting!);
    await deleteTask(ctx, alice(), started!);
    t.match(await readUsage(ctx, alice().id), { executions: 1 });
  },
);
