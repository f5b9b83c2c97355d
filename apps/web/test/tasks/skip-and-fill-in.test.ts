import t from 'tap';
import { skipNextRun } from '../../../api/src/product/tasks/skip-next-run.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { buildCaller } from '../../../api/test/support/engine.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, insertUsage, readLedger, readRuns, readTaskRow } from '../../../api/test/support/task-rows.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const visitor = visit(app, alice);
const NEXT = new Date('2026-11-21T09:00:00Z');

/** Hourly for two days; the next run is tomorrow. */
const insertHourly = (userId = alice.id) =>
  insertTask(ctx, userId, {
    recurrencePattern: '0 * * * *',
    scheduledFor: new Date('2026-11-18T10:00:00Z'),
    nextExecutionAt: NEXT,
    timezone: 'Asia/Tokyo',
  });

t.test('The next run is skipped on the page of the task, which says which run it was', async (t) => {
  const id = await insertHourly();
  const page = await visitor.open(`/tasks/${id}`);
  const skipped = await visitor.submit(page, 'Skip the next run');
  t.match(skipped, { url: `/tasks/${id}`, text: /The run of tomorrow at 10:00 is skipped\./ });
  t.strictSame(await readLedger(ctx, id), [[NEXT.toISOString(), 'skipped_by_user']]);
  t.equal((await readTaskRow(ctx, id)).nextExecutionAt?.toISOString(), '2026-11-21T10:00:00.000Z');
});

t.test('A button that is pressed twice skips one run', async (t) => {
  const id = await insertHourly();
  const page = await visitor.open(`/tasks/${id}`);
  await visitor.submit(page, 'Skip the next run');
  t.match(
    (await visitor.submit(page, 'Skip the next run')).text,
    /Nothing is skipped\. This is no longer the next run/,
  );
  for (const plannedFor of ['', 'tomorrow', '"><script>']) {
    t.match((await visitor.submit(page, 'Skip the next run', { plannedFor })).text, /Nothing is skipped/);
  }
  t.equal((await readLedger(ctx, id)).length, 1);
});

t.test('Missed runs are filled in for a period in the zone of the task', async (t) => {
  const id = await insertHourly();
  await skipNextRun(ctx, buildCaller(alice.id), id);
  const task = await visitor.open(`/tasks/${id}`);
  const form = await visitor.open(task.document.querySelector('a[href$="/backfill"]')?.getAttribute('href') ?? '');
  t.match(form, { heading: 'Run missed ones', text: /From, Tokyo time/ });
  t.equal(form.document.querySelector('#to')?.getAttribute('value'), '2026-11-20T19:00');
  const period = { from: '2026-11-20T17:00', to: '2026-11-20T19:00' };
  t.match(await visitor.submit(form, 'Run missed ones', period), {
    url: `/tasks/${id}`,
    text: /3 missed runs are queued\./,
  });
  t.strictSame(
    (await readRuns(ctx, id)).map(({ plannedFor }) => plannedFor?.toISOString()),
    ['2026-11-20T08:00:00.000Z', '2026-11-20T09:00:00.000Z', '2026-11-20T10:00:00.000Z'],
  );
  t.match((await visitor.submit(form, 'Run missed ones', period)).text, /No run is missing in this period\./);
});

t.test('A period that cannot be is refused at its field, with what was typed', async (t) => {
  const id = await insertHourly();
  const form = await visitor.open(`/tasks/${id}/backfill`);
  const cases = [
    [{ from: '2026-11-20T18:00', to: '2026-11-20T17:00' }, 'to', /must be after/],
    [{ from: '2026-11-20T18:00', to: '2026-11-20T19:01' }, 'to', /must not be in the future/],
    [{ from: '2026-11-01T00:00', to: '' }, 'to', /Enter a date and a time/],
    [{ from: '"><script>alert(1)</script>', to: '2026-11-20T17:00' }, 'from', /Enter a date and a time/],
  ] as const;
  for (const [typed, field, message] of cases) {
    const refused = await visitor.submit(form, 'Run missed ones', typed);
    t.equal(refused.status, 422);
    t.match(refused.document.querySelector(`#${field}-error`)?.text, message);
    t.equal(refused.document.querySelector(`#${field}`)?.getAttribute('value'), typed[field]);
  }
  t.strictSame(await readRuns(ctx, id), []);
});

t.test('A period beyond a quota says so, and queues nothing', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  await insertUsage(ctx, carol.id, { executions: 49 });
  const id = await insertHourly(carol.id);
  const visitor = visit(app, carol);
  const form = await visitor.open(`/tasks/${id}/backfill`);
  const refused = await visitor.submit(form, 'Run missed ones', { from: '2026-11-20T17:00', to: '2026-11-20T19:00' });
  t.equal(refused.status, 402);
  t.match(refused.text, /All 50 runs are used\. Runs resume on 21 November 2026/);
  t.strictSame(await readRuns(ctx, id), []);
});

t.test("A stranger's task is neither skipped nor filled in", async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const id = await insertHourly();
  const visitor = visit(app, bob);
  t.equal((await visitor.open(`/tasks/${id}/backfill`)).status, 404);
  t.equal((await visitor.open('/tasks/x/backfill')).status, 404);
  const his = await visitor.open(`/tasks/${await insertHourly(bob.id)}`);
  his.document.querySelector('form[action$="/skip"]')?.setAttribute('action', `/tasks/${id}/skip`);
  t.equal((await visitor.submit(his, 'Skip the next run')).status, 404);
  t.strictSame(await readLedger(ctx, id), []);
});
