import t from 'tap';
import { executeTask } from '../../../src/product/executions/start.ts';
import { START, testContext } from '../../support/context.ts';
import { buildCaller } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';
import { readLedger, readRuns } from '../../support/task-rows.ts';
import { patchTask, postTask, readTask, runDue, TASK } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUp(app);
t.beforeEach(() => clock.set(START));

/** A daily task at 11:00, which it is in an hour. */
const post = (given: object = {}) => postTask(app, alice, given);
const patch = (id: number, payload: object) => patchTask(app, alice, id, payload);
const read = (id: number) => readTask(app, alice, id);
const create = (given: object) =>
  app.inject({ method: 'POST', url: '/api/agent/create-task', headers: alice.headers, payload: { ...TASK, ...given } });
const preview = (given: object) => {
  const payload = { scheduledFor: TASK.scheduledFor, recurrence: 'daily', timezone: 'UTC', count: 3, ...given };
  return app.inject({ method: 'POST', url: '/api/tasks/preview', headers: alice.headers, payload });
};

t.test('A task whose limits leave no run is 400 and names the field', async (t) => {
  for (const [given, field, message] of [
    [{ endsAt: '2026-11-20T11:00:00Z' }, 'endsAt', /must be after the next run/],
    [{ endsAt: '2026-11-20T09:00:00Z' }, 'endsAt', /must be in the future/],
    [{ pausedUntil: '2026-11-20T10:00:00Z' }, 'pausedUntil', /must be in the future/],
    [{ recurrence: 'once', pausedUntil: '2026-11-20T11:00:01Z' }, 'pausedUntil', /must be before the last run/],
    [
      { endsAt: '2026-11-22T11:00:00Z', pausedUntil: '2026-11-22T10:00:00Z' },
      'pausedUntil',
      /must be before the last run/,
    ],
    [{ maxRuns: 0 }, 'maxRuns', /at least 1/],
    [{ maxRuns: 1.5 }, 'maxRuns', /integer/],
    [{ endsAt: 'tomorrow' }, 'endsAt', /./],
    [{ pausedUntil: 5 }, 'pausedUntil', /./],
  ] as const) {
    const answer = await create(given);
    t.equal(answer.statusCode, 400, JSON.stringify(given));
    t.match(answer.json().details, { [field]: [message] });
  }
  t.equal((await create({ endsAt: '2026-11-20T11:00:00.001Z' })).statusCode, 201);
  t.equal((await create({ recurrence: 'once', pausedUntil: '2026-11-20T11:00:00Z' })).statusCode, 201);
});

t.test('A paused instant leaves no trace in the ledger, and the task stays active', async (t) => {
  const id = await post({ pausedUntil: '2026-11-22T11:00:00Z' });
  t.match(await read(id), { status: 'active', nextExecutionAt: '2026-11-22T11:00:00.000Z' });
  clock.set('2026-11-22T10:59:59Z');
  await runDue(ctx);
  t.same(await readLedger(ctx, id), []);
  clock.set('2026-11-22T11:00:00Z');
  await runDue(ctx);
  t.same(await readLedger(ctx, id), [['2026-11-22T11:00:00.000Z', 'ran']]);
  t.match(await read(id), { nextExecutionAt: '2026-11-23T11:00:00.000Z' });
});

t.test('A pause over the change of the clocks keeps the wall-clock time', async (t) => {
  clock.set('2027-03-20T10:00:00Z');
  const lisbon = { scheduledFor: '2027-03-20T12:30:00Z', timezone: 'Europe/Lisbon' };
  const bob = await signUp(app);
  const id = await postTask(app, bob, { ...lisbon, pausedUntil: '2027-03-28T11:30:00Z' });
  t.match(await readTask(app, bob, id), { nextExecutionAt: '2027-03-28T11:30:00.000Z' }, 'summer time since 01:00');
});

t.test('A pause begins, moves and ends by a change, and a run that was due before it is missed', async (t) => {
  const id = await post();
  clock.set('2026-11-20T11:00:01Z');
  const paused = await patch(id, { pausedUntil: '2026-11-25T00:00:00Z' });
  t.match(paused.json().task, { status: 'active', nextExecutionAt: '2026-11-25T11:00:00.000Z' });
  t.same(await readLedger(ctx, id), [['2026-11-20T11:00:00.000Z', 'missed']]);
  t.match((await patch(id, { pausedUntil: '2026-11-23T00:00:00Z' })).json().task, {
    nextExecutionAt: '2026-11-23T11:00:00.000Z',
  });
  t.match((await patch(id, { pausedUntil: null })).json().task, { nextExecutionAt: '2026-11-21T11:00:00.000Z' });
  t.equal((await readLedger(ctx, id)).length, 1);
});

t.test('A pause that leaves no run is 400, and a stranger cannot pause', async (t) => {
  const id = await post({ recurrence: 'once' });
  const late = await patch(id, { pausedUntil: '2026-11-20T11:00:00.001Z' });
  t.strictSame([late.statusCode, Object.keys(late.json().details)], [400, ['pausedUntil']]);
  const mallory = await signUp(app);
  t.equal((await patchTask(app, mallory, id, { pausedUntil: '2026-11-20T10:30:00Z' })).statusCode, 404);
});

t.test('A whole task can be sent back after its pause and its end have passed', async (t) => {
  const limits = { pausedUntil: '2026-11-20T12:00:00.000Z', endsAt: '2026-11-22T00:00:00.000Z' };
  const id = await post(limits);
  clock.set('2026-11-21T12:00:00Z');
  await runDue(ctx);
  clock.set('2026-11-23T12:00:00Z');
  const same = await patch(id, { ...limits, name: 'Renamed' });
  t.match(same.json().task, { ...limits, name: 'Renamed', status: 'completed' });
  const past = await patch(id, { endsAt: '2026-11-22T00:00:00.001Z' });
  t.strictSame([past.statusCode, Object.keys(past.json().details)], [400, ['endsAt']]);
});

t.test('A run that is due stays the next run if only the end or the number of runs changes', async (t) => {
  const id = await post();
  clock.set('2026-11-20T11:00:01Z');
  const changed = await patch(id, { maxRuns: 3, endsAt: '2026-11-29T00:00:00Z' });
  t.match(changed.json().task, { nextExecutionAt: '2026-11-20T11:00:00.000Z' });
  await runDue(ctx);
  t.same(await readLedger(ctx, id), [['2026-11-20T11:00:00.000Z', 'ran']]);
});

t.test('An end before the next run, or a number of runs that is reached, completes the task at once', async (t) => {
  const ended = await post();
  t.match((await patch(ended, { endsAt: '2026-11-20T11:00:00Z' })).json().task, {
    status: 'completed',
    nextExecutionAt: null,
  });
  const counted = await post();
  for (const day of [20, 21]) {
    clock.set(`2026-11-${day}T11:00:00Z`);
    await runDue(ctx);
  }
  t.match((await patch(counted, { maxRuns: 2 })).json().task, { status: 'completed', nextExecutionAt: null });
});

t.test('An end that comes while a run is pending completes the task with that run', async (t) => {
  const id = await post();
  await executeTask(ctx, buildCaller(alice.id), id);
  t.match((await patch(id, { endsAt: '2026-11-20T11:00:00Z' })).json().task, {
    status: 'active',
    nextExecutionAt: null,
  });
  await runDue(ctx);
  t.match(await read(id), { status: 'completed', nextExecutionAt: null });
});

t.test('A later end or a larger number of runs resumes the task that it completed, and no other', async (t) => {
  const id = await post({ maxRuns: 1 });
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  t.match(await read(id), { status: 'completed' });
  t.match((await patch(id, { name: 'Renamed' })).json().task, { status: 'completed' });
  const refused = await patch(id, { status: 'active' });
  t.strictSame([refused.statusCode, Object.keys(refused.json().details)], [400, ['maxRuns']]);
  t.match((await patch(id, { maxRuns: 2 })).json().task, {
    status: 'active',
    nextExecutionAt: '2026-11-21T11:00:00.000Z',
  });
  const once = await post({ recurrence: 'once', scheduledFor: '2026-11-20T12:00:00Z' });
  clock.set('2026-11-20T12:00:00Z');
  await runDue(ctx);
  t.match((await patch(once, { maxRuns: 5 })).json().task, { status: 'completed', nextExecutionAt: null });
});

t.test(
  'A task that is paused while its end passes stays paused and cannot be resumed without a later one',
  async (t) => {
    const id = await post({ endsAt: '2026-11-22T00:00:00Z' });
    await patch(id, { status: 'paused' });
    clock.set('2026-11-23T00:00:00Z');
    await runDue(ctx);
    t.match(await read(id), { status: 'paused' });
    const refused = await patch(id, { status: 'active' });
    t.strictSame([refused.statusCode, Object.keys(refused.json().details)], [400, ['endsAt']]);
    t.match((await patch(id, { status: 'active', endsAt: null })).json().task, {
      status: 'active',
      nextExecutionAt: '2026-11-23T11:00:00.000Z',
    });
  },
);

t.test('A copy has the limits of its task and starts to count at 0; one that has ended is paused', async (t) => {
  const id = await post({ maxRuns: 1, pausedUntil: '2026-11-24T00:00:00Z' });
  const copyOf = (id: number) =>
    app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers: alice.headers });
  t.match((await copyOf(id)).json().task, { status: 'active', nextExecutionAt: '2026-11-24T11:00:00.000Z' });
  clock.set('2026-11-24T11:00:00Z');
  await runDue(ctx);
  t.equal((await readRuns(ctx, id)).length, 1);
  t.match((await copyOf(id)).json().task, { status: 'paused', maxRuns: 1 }, 'a copy of a completed task is paused');
});

t.test('The preview shows the runs that pause, end and number of runs leave', async (t) => {
  const shown = async (given: object) =>
    (await preview(given)).json().occurrences.map(({ at, note }: { at: string; note?: string }) => [at, note]);
  t.same(await shown({ pausedUntil: '2026-11-23T11:00:00Z', endsAt: '2026-11-25T11:00:00Z' }), [
    ['2026-11-23T11:00:00.000Z', 'The task is paused until 2026-11-23T11:00:00+00:00[UTC].'],
    ['2026-11-24T11:00:00.000Z', 'This is the last run before the task ends at 2026-11-25T11:00:00+00:00[UTC].'],
  ]);
  t.same(await shown({ maxRuns: 1, pausedUntil: null }), [
    ['2026-11-20T11:00:00.000Z', 'This is the only planned run.'],
  ]);
  for (const [given, field] of [
    [{ endsAt: '2026-11-20T11:00:00Z' }, 'endsAt'],
    [{ recurrence: 'once', pausedUntil: '2026-11-21T11:00:00Z' }, 'pausedUntil'],
    [{ maxRuns: 0 }, 'maxRuns'],
    [{ recurrence: 'once', scheduledFor: '2026-11-20T09:00:00Z' }, 'scheduledFor'],
  ] as const) {
    const answer = await preview(given);
    t.strictSame([answer.statusCode, Object.keys(answer.json().details)], [400, [field]], JSON.stringify(given));
  }
});
