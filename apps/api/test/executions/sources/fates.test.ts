import { settings, taskLooks, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { backfillTask, executeTask } from '../../../src/product/executions/start.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { testEngine } from '../../support/engine.ts';
import { startPageServer } from '../../support/servers/page-server.ts';
import { insertWatch, minutes, readFates, readSourceRuns } from '../../support/source-tasks.ts';
import { readTaskRow } from '../../support/task-rows.ts';

const site = await startPageServer();
const { ctx, ai, alice, clock, runDue, newWorker } = await testEngine(t, { SOURCES_ALLOW: '127.0.0.1/32' });
t.teardown(site.close);
t.beforeEach(() => site.set('/a', { body: 'A' }));

const watch = (values: object = {}) => insertWatch(ctx, alice().id, `${site.url}/a`, values);

async function runAt(t: Parameters<typeof runDue>[0], minute: number) {
  clock.set(minutes(minute));
  await runDue(t);
}

/** Enqueues what is due; the looks wait. */
async function enqueueAt(minute: number) {
  clock.set(minutes(minute));
  await enqueueDue(ctx);
}

t.test('The last planned run of a task completes it, although it is unchanged', async (t) => {
  const task = await watch({ endsAt: minutes(2) });
  await runAt(t, 0);
  await enqueueAt(1);
  t.match(await readTaskRow(ctx, task), { status: 'active', nextExecutionAt: null }, 'its look still waits');
  await newWorker(t).drain();
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged']);
  t.match(await readTaskRow(ctx, task), { status: 'completed' });
});

t.test('A task for one run is completed by an unchanged one', async (t) => {
  const task = await watch({ recurrence: 'once', recurrencePattern: null });
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  await runAt(t, 1);
  t.strictSame(await readFates(ctx, task), ['unchanged']);
  t.match(await readTaskRow(ctx, task), { status: 'completed' });
});

t.test('Only runs that are queued count against maxRuns', async (t) => {
  const task = await watch({ maxRuns: 2 });
  await runAt(t, 0);
  await runAt(t, 1);
  site.set('/a', { body: 'B' });
  await runAt(t, 2);
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged', 'ran']);
  t.match(await readTaskRow(ctx, task), { status: 'completed', plannedRuns: 2 });
});

t.test('A changed source does not run over a quota, over the budget, or beside another run', async (t) => {
  const task = await watch({ alerts: {} });
  await runAt(t, 0);
  await executeTask(ctx, alice(), task);
  site.set('/a', { body: 'B' });
  await enqueueAt(1);
  const worker = newWorker(t);
  await worker.drain();
  t.strictSame(await readFates(ctx, task), ['ran', 'skipped_overlap']);

  site.set('/a', { body: 'C' });
  await ctx.db.update(tasks).set({ monthlyBudgetUsd: 0 });
  await runAt(t, 2);
  t.strictSame((await readFates(ctx, task)).slice(2), ['over_budget']);
  await ctx.db.update(tasks).set({ monthlyBudgetUsd: null });
  await ctx.db.execute(sql`update usage_counters set executions = executions + 100000`);
  await runAt(t, 3);
  t.strictSame((await readFates(ctx, task)).slice(3), ['over_quota']);
  site.set('/a', { body: 'A' });
  await ctx.db.execute(sql`update usage_counters set executions = executions - 100000`);
});

t.test('An unchanged source takes no quota, and is told although none is left', async (t) => {
  const task = await watch();
  await runAt(t, 0);
  await ctx.db.execute(sql`update usage_counters set executions = executions + 100000`);
  await runAt(t, 1);
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged']);
  await ctx.db.execute(sql`update usage_counters set executions = executions - 100000`);
});

t.test('A task that is paused during its look does not run, and one that is deleted leaves nothing', async (t) => {
  const [paused, gone] = [await watch(), await watch()];
  await enqueueAt(0);
  await changeTask(ctx, alice(), paused, { status: 'paused' });
  await deleteTask(ctx, alice(), gone);
  await newWorker(t).drain();
  t.strictSame(await readFates(ctx, paused), ['missed']);
  t.strictSame(await readSourceRuns(ctx, paused), []);
  t.equal(await ctx.db.$count(taskLooks, eq(taskLooks.id, gone)), 0);
  t.equal(ai.requests.length, 0);
});

t.test('A task whose condition or sources change during its look runs', async (t) => {
  const [always, other] = [await watch(), await watch()];
  await runAt(t, 0);
  await enqueueAt(1);
  await changeTask(ctx, alice(), always, { runIf: 'always' });
  site.set('/b', { body: 'B' });
  await changeTask(ctx, alice(), other, { sources: [{ name: 'page', url: `${site.url}/b` }] });
  await newWorker(t).drain();
  for (const task of [always, other]) t.strictSame(await readFates(ctx, task), ['ran', 'ran']);
  t.match((await readSourceRuns(ctx, other)).at(-1)?.sources, [{ url: `${site.url}/b`, status: 'new' }]);
});

t.test('A look waits for the end of the maintenance, and is missed on a suspended account', async (t) => {
  const task = await watch();
  await enqueueAt(0);
  await ctx.db.update(settings).set({ maintenanceMode: true });
  await newWorker(t).drain();
  t.strictSame(await readFates(ctx, task), []);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await ctx.db.update(users).set({ isActive: false });
  await newWorker(t).drain();
  t.strictSame(await readFates(ctx, task), ['missed']);
  t.strictSame(await readSourceRuns(ctx, task), []);
});

t.test('A backfill and a retry always run, and read the sources again', async (t) => {
  const task = await watch();
  await runAt(t, 0);
  await runAt(t, 1);
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged']);
  site.paths.length = 0;
  const period = { from: minutes(0).toISOString(), to: minutes(1).toISOString() };
  t.equal(await backfillTask(ctx, alice(), task, period), 1);
  await newWorker(t).drain();
  t.strictSame(await readFates(ctx, task), ['ran', 'late']);
  t.match((await readSourceRuns(ctx, task)).at(-1), { trigger: 'backfill', sources: [{ status: 'unchanged' }] });
  t.equal(site.paths.length, 1);

  site.set('/a', { body: 'B' });
  ai.answer(() => ({ status: 503 }));
  await runAt(t, 2);
  ai.answer(() => ({}));
  clock.set(minutes(5));
  await ctx.db.update(tasks).set({ nextExecutionAt: minutes(60) });
  await runDue(t);
  t.match((await readSourceRuns(ctx, task)).at(-1), {
    trigger: 'retry',
    status: 'completed',
    sources: [{ status: 'new' }],
  });
});

t.test('Instants that an outage has missed are decided by one look', async (t) => {
  const task = await watch({ missed: 'all' });
  await runAt(t, 0);
  site.paths.length = 0;
  await runAt(t, 3);
  t.strictSame(await readFates(ctx, task), ['ran', 'unchanged', 'unchanged', 'unchanged']);
  t.equal(site.paths.length, 1);
});

t.test('The budget covers the texts of sources: a run that would exceed it asks no model', async (t) => {
  site.set('/a', { body: 'word '.repeat(4000) });
  const model = { aiModel: 'openai/gpt-5-mini', maxTokens: 100 };
  const task = await watch({ ...model, runIf: 'always', monthlyBudgetUsd: 0.001, alerts: {} });
  await runAt(t, 0);
  t.match(await readSourceRuns(ctx, task), [
    { status: 'failed', errorCode: 'QUOTA_EXCEEDED', sources: [{ status: 'new' }] },
  ]);
  t.equal(ai.requests.length, 0);
});
