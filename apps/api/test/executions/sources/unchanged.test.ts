import { executions, taskSources, usageCounters } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { executeTask } from '../../../src/product/executions/start.ts';
import { getUsage } from '../../../src/product/usage/read.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { startPageServer } from '../../support/servers/page-server.ts';
import { insertTask, readLedger } from '../../support/task-rows.ts';

const site = await startPageServer();
const { ctx, ai, alice, clock, runDue, newWorker } = await testEngine(t, { SOURCES_ALLOW: '127.0.0.1/32' });
t.teardown(site.close);

const MINUTE_MS = 60_000;
const minutes = (count: number) => new Date(START.getTime() + count * MINUTE_MS);
const page = (path: string) => ({ name: 'page', url: `${site.url}${path}` });

/** Runs each minute from `START` on. */
const insertWatch = (values: object = {}) =>
  insertTask(ctx, alice().id, {
    recurrencePattern: '* * * * *',
    nextExecutionAt: START,
    scheduledFor: START,
    context: { clock: false, previousResult: false },
    runIf: 'changed',
    sources: [page('/price')],
    ...values,
  });

const readRuns = (taskId: number) =>
  ctx.db.select().from(executions).where(eq(executions.taskId, taskId)).orderBy(executions.id);

async function runAt(t: Parameters<typeof runDue>[0], minute: number) {
  clock.set(minutes(minute));
  await runDue(t);
}

t.test('A planned run whose sources are as at the last completed run ends as unchanged, at no cost', async (t) => {
  site.set('/price', { body: 'It costs 10.' });
  const task = await insertWatch();
  await runAt(t, 0);
  await runAt(t, 1);
  await runAt(t, 2);
  t.strictSame(await readLedger(ctx, task), [
    [minutes(0).toISOString(), 'ran'],
    [minutes(1).toISOString(), 'unchanged'],
    [minutes(2).toISOString(), 'unchanged'],
  ]);
  t.equal(ai.requests.length, 1);
  const runs = await readRuns(task);
  t.equal(runs.length, 1);
  t.strictSame(runs[0]?.sources, [
    {
      name: 'page',
      url: `${site.url}/price`,
      status: 'new',
      httpStatus: 200,
      fetchedAt: START.toISOString(),
      asOf: START.toISOString(),
      bytes: 12,
      message: null,
    },
  ]);
  t.equal(runs[0]?.sourceStates, null);
  t.match(runs[0]?.request?.prompt, /BEGIN [0-9a-f]{24}\nIt costs 10\.\nEND/);

  site.set('/price', { body: 'It costs 9.' });
  await runAt(t, 3);
  t.equal(ai.requests.length, 2);
  t.equal((await readRuns(task)).at(-1)?.sources?.[0]?.status, 'new');
  const [counter] = await ctx.db.select().from(usageCounters).where(sql`length(period) = 7`);
  t.match(counter, { executions: 2, savedRuns: 2 });
  const usage = await getUsage(ctx, alice());
  t.match(usage.saved, { runs: 2 });
});

t.test('The sources are read once for a planned run, and with the validators of the last look', async (t) => {
  site.set('/price', { body: 'A', etag: '"a"' });
  site.paths.length = 0;
  const task = await insertWatch();
  await runAt(t, 0);
  t.strictSame(site.paths, ['/price']);
  await runAt(t, 1);
  t.strictSame(site.paths, ['/price', '/price']);
  t.strictSame(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    ['ran', 'unchanged'],
  );
  const [stored] = await ctx.db.select().from(taskSources);
  t.match(stored, { etag: '"a"', failuresInRow: 0, asOf: minutes(1) });
  t.notMatch(stored?.textEncrypted, 'A ', 'the text is encrypted');
  t.match(stored?.textEncrypted, /^v1\./);
});

t.test('Unchanged is against the last completed run, not against the last look', async (t) => {
  site.set('/price', { body: 'A' });
  const task = await insertWatch({ maxRetries: 0 });
  await runAt(t, 0);
  site.set('/price', { body: 'B' });
  ai.answer(() => ({ status: 400 }));
  await runAt(t, 1);
  ai.answer(() => ({}));
  await runAt(t, 2);
  await runAt(t, 3);
  t.strictSame(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    ['ran', 'ran', 'ran', 'unchanged'],
  );
  t.strictSame(
    (await readRuns(task)).map(({ status }) => status),
    ['completed', 'failed', 'completed'],
  );
});

t.test('A run on demand always runs, and reads the sources', async (t) => {
  site.set('/price', { body: 'A' });
  const task = await insertWatch();
  await runAt(t, 0);
  const { executionId } = await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  const run = (await readRuns(task)).find(({ id }) => id === executionId);
  t.match(run, { status: 'completed', sources: [{ status: 'unchanged', httpStatus: 200 }] });
  t.match(run?.request?.prompt, /\nA\n/);
});
