import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { executeTask } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { readAlerts } from '../../support/alerts.ts';
import { testEngine } from '../../support/engine.ts';
import { startPageServer } from '../../support/servers/page-server.ts';
import { insertWatch, minutes, readFates, readSourceRuns } from '../../support/source-tasks.ts';

const site = await startPageServer();
const { ctx, ai, alice, clock, runDue, newWorker } = await testEngine(t, { SOURCES_ALLOW: '127.0.0.1/32' });
t.teardown(site.close);
t.beforeEach(() => {
  site.set('/a', { body: 'Text of a.' });
  site.set('/b', { body: 'Text of b.' });
});

const ALERTS = { failuresInRow: 3 };
const source = (name: string, path = `/${name}`) => ({ name, url: `${site.url}${path}` });

async function runAt(t: Parameters<typeof runDue>[0], minute: number) {
  clock.set(minutes(minute));
  await runDue(t);
}

const kinds = async (taskId: number) => (await readAlerts(ctx, taskId)).map(({ kind, title }) => `${kind} ${title}`);

t.test(
  'A failed source counts as unchanged with its last good text, and the prompt says from when it is',
  async (t) => {
    const task = await insertWatch(ctx, alice().id, '', { sources: [source('a'), source('b')], alerts: ALERTS });
    await runAt(t, 0);
    site.set('/a', { status: 500 });
    await runAt(t, 1);
    t.strictSame(await readFates(ctx, task), ['ran', 'unchanged']);
    site.set('/b', { body: 'New text of b.' });
    await runAt(t, 2);
    t.strictSame(await readFates(ctx, task), ['ran', 'unchanged', 'ran']);
    const run = (await readSourceRuns(ctx, task)).at(-1);
    t.match(run?.sources, [
      {
        name: 'a',
        status: 'failed',
        httpStatus: 500,
        asOf: minutes(0).toISOString(),
        fetchedAt: minutes(2).toISOString(),
        bytes: 10,
        message: /500/,
      },
      { name: 'b', status: 'new', httpStatus: 200, message: null },
    ]);
    t.match(
      run?.request?.prompt,
      /could not be read now, so this is its text as of 2026-11-20T10:00:00\.000Z[\s\S]*\nText of a\.\n/,
    );
    t.equal(run?.outcome, null);
  },
);

t.test('A source without any text is told to the run, and counts as changed', async (t) => {
  site.set('/a', { status: 404 });
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a'), source('b')] });
  await runAt(t, 0);
  await runAt(t, 1);
  t.strictSame(await readFates(ctx, task), ['ran', 'ran']);
  const run = (await readSourceRuns(ctx, task)).at(-1);
  t.match(run?.sources, [{ status: 'failed', httpStatus: 404, asOf: null, bytes: null }, { status: 'unchanged' }]);
  t.match(run?.request?.prompt, /The source "a" [^\n]*has no text/);
});

t.test('A run whose sources all failed is not done, and the owner is alerted at once', async (t) => {
  site.set('/a', { status: 404 });
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a')], runIf: 'always', alerts: ALERTS });
  await runAt(t, 0);
  await runAt(t, 1);
  t.match(await readSourceRuns(ctx, task), [
    { status: 'completed', outcome: 'not_done', outcomeReason: 'None of the sources could be read.' },
    { outcome: 'not_done' },
  ]);
  t.strictSame(await kinds(task), ['task.failing The source "a" of the task "Task 0" cannot be read']);
  site.set('/a', { body: 'Back.' });
  await runAt(t, 2);
  t.strictSame((await kinds(task)).slice(1), ['task.recovered Task "Task 0" works again']);
});

t.test(
  'Sources that all fail with their last good texts end runs as unchanged, and alert once; so does their return',
  async (t) => {
    const task = await insertWatch(ctx, alice().id, '', { sources: [source('a'), source('b')], alerts: ALERTS });
    await runAt(t, 0);
    site.set('/a', { status: 500 });
    site.set('/b', { status: 500 });
    for (const minute of [1, 2, 3, 4]) await runAt(t, minute);
    t.strictSame(await readFates(ctx, task), ['ran', 'unchanged', 'unchanged', 'unchanged', 'unchanged']);
    t.strictSame(await kinds(task), ['task.failing The sources of the task "Task 0" cannot be read']);
    const [alert] = await readAlerts(ctx, task);
    t.match(alert, {
      executionId: null,
      at: minutes(1),
      data: { execution: null, errorCode: null, stopped: false, sources: ['a', 'b'] },
    });
    site.set('/a', { body: 'Text of a.' });
    await runAt(t, 5);
    t.strictSame((await kinds(task)).slice(1), ['task.recovered Task "Task 0" works again']);
    const [row] = await ctx.db.select().from(tasks).where(eq(tasks.id, task));
    t.match(row, { alertingSince: null, isFailingAlerted: false });
    t.equal(ai.requests.length, 1);
  },
);

t.test('One source that fails three times in a row is alerted once, whatever the others say', async (t) => {
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a'), source('b')], alerts: ALERTS });
  await runAt(t, 0);
  site.set('/a', { status: 500 });
  await runAt(t, 1);
  await runAt(t, 2);
  t.strictSame(await kinds(task), []);
  for (const minute of [3, 4, 5]) await runAt(t, minute);
  t.strictSame(await kinds(task), ['task.failing The source "a" of the task "Task 0" cannot be read']);
  const [alert] = await readAlerts(ctx, task);
  t.match(alert?.data, { failuresInRow: 3, error: /500/ });
});

t.test('Without the rule for failures no source is alerted', async (t) => {
  site.set('/a', { status: 500 });
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a')], alerts: {} });
  await runAt(t, 0);
  t.strictSame(await kinds(task), []);
});

t.test('A source whose settings change is read anew, and nothing is left of the old one', async (t) => {
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a')] });
  await runAt(t, 0);
  await changeTask(ctx, alice(), task, { sources: [source('a', '/b')] });
  site.set('/b', { status: 500 });
  await runAt(t, 1);
  t.strictSame(await readFates(ctx, task), ['ran', 'ran']);
  t.match((await readSourceRuns(ctx, task)).at(-1)?.sources, [{ status: 'failed', asOf: null }]);
});

t.test('A run on demand reads the sources although a look has just failed', async (t) => {
  site.set('/a', { status: 500 });
  const task = await insertWatch(ctx, alice().id, '', { sources: [source('a')] });
  await runAt(t, 0);
  site.set('/a', { body: 'Now.' });
  const { executionId } = await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  const run = (await readSourceRuns(ctx, task)).find(({ id }) => id === executionId);
  t.match(run, { outcome: null, sources: [{ status: 'new' }] });
});
