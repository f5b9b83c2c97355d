import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { readLedger } from '../support/task-rows.ts';
import { patchTask, postTask, readTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

t.test('A new schedule moves the next run, to the millisecond', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const first = { scheduledFor: '2026-11-22T03:15:00.250+02:00' };
  t.match((await patchTask(app, alice, id, first)).json().task, {
    scheduledFor: '2026-11-22T01:15:00.250Z',
    nextExecutionAt: '2026-11-22T01:15:00.250Z',
    recurrence: 'daily',
  });
  clock.set('2026-11-25T12:00:00Z');
  // 01:15 UTC is 02:15 in Berlin, whose wall clock decides from now on, also across clock changes.
  const berlin = { timezone: 'Europe/Berlin', recurrencePattern: '15 2 * * 0' };
  t.match((await patchTask(app, alice, id, berlin)).json().task, {
    nextExecutionAt: '2026-11-29T01:15:00.000Z',
    recurrence: 'weekly',
  });
  t.match((await patchTask(app, alice, id, { recurrencePattern: '15 2 1 * *' })).json().task, {
    nextExecutionAt: '2026-12-01T01:15:00.000Z',
    recurrence: 'monthly',
  });
  t.match(
    (await patchTask(app, alice, id, { recurrence: 'daily' })).json().task,
    {
      nextExecutionAt: '2026-11-26T01:15:00.250Z',
      recurrencePattern: null,
    },
    'a new recurrence replaces the pattern',
  );
  t.match(
    (await patchTask(app, alice, id, { recurrence: 'once', recurrencePattern: '0 0 * * *' })).json().task,
    {
      recurrence: 'daily',
      nextExecutionAt: '2026-11-25T23:00:00.000Z',
    },
    'a pattern takes precedence over the recurrence',
  );
  t.match((await patchTask(app, alice, id, { recurrencePattern: null })).json().task, {
    recurrence: 'daily',
    recurrencePattern: null,
    nextExecutionAt: '2026-11-26T01:15:00.250Z',
  });
});

t.test('A whole task can be sent back with one field changed, although its first run has passed', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  clock.set('2026-11-23T12:00:00Z');
  const { name: _, ...same } = TASK;
  const { task } = (await patchTask(app, alice, id, { ...same, name: 'Renamed' })).json();
  t.match(task, { name: 'Renamed', nextExecutionAt: TASK.scheduledFor, status: 'active' });
});

t.test('A first run in the past is rejected, and so is `once` whose time has passed', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  clock.set('2026-11-21T12:00:00Z');
  for (const change of [
    { scheduledFor: '2026-11-21T12:00:00.000Z' },
    { scheduledFor: '2026-11-21T11:59:59.999Z', status: 'active' },
    { scheduledFor: '2026-11-20T11:00:00.001Z', status: 'paused' },
    { recurrence: 'once' },
    { recurrence: 'once', status: 'paused' },
  ]) {
    const answer = await patchTask(app, alice, id, change);
    t.equal(answer.statusCode, 400, JSON.stringify(change));
    t.same(Object.keys(answer.json().details), ['scheduledFor']);
  }
  t.equal(
    (await patchTask(app, alice, id, { recurrence: 'once', scheduledFor: '2026-11-21T12:00:00.001Z' })).statusCode,
    200,
  );
});

t.test('A `once` task that has run can be changed without resuming it, and a new time runs it again', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrence: 'once', aiModel: 'offline' });
  clock.set(TASK.scheduledFor);
  await runDue(ctx);
  t.match(await readTask(app, alice, id), { status: 'completed', nextExecutionAt: null });
  for (const change of [{ name: 'Done' }, { timezone: 'Asia/Kolkata' }, { scheduledFor: TASK.scheduledFor }]) {
    t.match((await patchTask(app, alice, id, change)).json().task, { status: 'completed', nextExecutionAt: null });
  }
  const again = '2026-11-20T12:00:00.000Z';
  t.match((await patchTask(app, alice, id, { scheduledFor: again })).json().task, {
    status: 'active',
    nextExecutionAt: again,
  });
  clock.set(again);
  await runDue(ctx);
  t.match(await readTask(app, alice, id), { status: 'completed', executionCount: 2 });
  t.same(await readLedger(ctx, id), [
    [TASK.scheduledFor, 'ran'],
    [again, 'ran'],
  ]);
  const daily = (await patchTask(app, alice, id, { recurrence: 'daily' })).json().task;
  t.match(daily, { status: 'active', nextExecutionAt: '2026-11-21T12:00:00.000Z' });
});

t.test('A due run that a change cancels is `missed` in the ledger', async (t) => {
  const alice = await signUp(app);
  const [paused, moved, renamed] = [await postTask(app, alice), await postTask(app, alice), await postTask(app, alice)];
  clock.set('2026-11-22T11:00:00Z');
  await patchTask(app, alice, paused, { status: 'paused' });
  await patchTask(app, alice, moved, { scheduledFor: '2026-11-22T12:00:00Z' });
  await patchTask(app, alice, renamed, { name: 'Renamed' });
  const missed = ['2026-11-20', '2026-11-21', '2026-11-22'].map((day) => [`${day}T11:00:00.000Z`, 'missed']);
  t.same(await readLedger(ctx, paused), missed);
  t.same(await readLedger(ctx, moved), missed);
  t.same(await readLedger(ctx, renamed), []);
  t.match(
    await readTask(app, alice, renamed),
    { nextExecutionAt: TASK.scheduledFor },
    'other changes leave the run due',
  );
});
