import { executions, tasks } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import type { Ai } from '../../src/lib/ai/client.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { signUp } from '../support/people.ts';
import { readLedger } from '../support/task-rows.ts';
import {
  BUSY_OUTCOME,
  createFixedAi,
  patchTask,
  postTask,
  REFUSED_OUTCOME,
  readTask,
  runDue,
  TASK,
} from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});
const runDueWith = (ai: Ai) => runDue({ ...ctx, ai });
const runsOf = (taskId: number) =>
  ctx.db
    .select({ status: executions.status, trigger: executions.trigger, plannedFor: executions.plannedFor })
    .from(executions)
    .where(eq(executions.taskId, taskId))
    .orderBy(asc(executions.id));

t.test('A paused task does not run, and continues with the next run after it is resumed', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.updated']);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  t.match((await patchTask(app, alice, id, { status: 'paused' })).json().task, {
    status: 'paused',
    nextExecutionAt: null,
  });
  clock.set('2026-11-23T12:00:00Z');
  await runDue(ctx);
  t.same(await runsOf(id), []);
  const next = '2026-11-24T11:00:00.000Z';
  t.match((await patchTask(app, alice, id, { status: 'active' })).json().task, {
    status: 'active',
    nextExecutionAt: next,
  });
  await runDue(ctx);
  t.same(await readLedger(ctx, id), [], 'runs that were due meanwhile are not made up for');
  clock.set(next);
  await runDue(ctx);
  t.same(await readLedger(ctx, id), [[next, 'ran']]);
  t.match(await receivedEvents(), [
    { data: { changes: { status: { from: 'active', to: 'paused' } } } },
    { data: { changes: { status: { from: 'paused', to: 'active' } } } },
  ]);
});

t.test('Pausing and resuming are idempotent', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.updated']);
  const id = await postTask(app, alice);
  for (const status of ['paused', 'paused', 'active', 'active']) {
    t.match((await patchTask(app, alice, id, { status })).json().task, { status });
  }
  t.equal((await receivedEvents()).length, 2);
});

t.test('A paused task can be changed, its schedule included, and stays paused', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  await patchTask(app, alice, id, { status: 'paused' });
  const change = { name: 'Changed', scheduledFor: '2026-11-25T09:00:00.000Z', recurrence: 'weekly' };
  t.match((await patchTask(app, alice, id, change)).json().task, {
    ...change,
    status: 'paused',
    nextExecutionAt: null,
  });
  const { task } = (await patchTask(app, alice, id, { status: 'active' })).json();
  t.match(task, { nextExecutionAt: change.scheduledFor });
  const both = { status: 'paused', recurrence: 'daily' };
  t.match((await patchTask(app, alice, id, both)).json().task, { ...both, nextExecutionAt: null });
});

t.test('A `once` task whose time has passed is resumed only with a new time', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrence: 'once' });
  await patchTask(app, alice, id, { status: 'paused' });
  t.match((await patchTask(app, alice, id, { status: 'active' })).json().task, { nextExecutionAt: TASK.scheduledFor });
  await patchTask(app, alice, id, { status: 'paused' });
  clock.set(TASK.scheduledFor);
  for (const again of [{}, { scheduledFor: TASK.scheduledFor }, { timezone: 'Asia/Kolkata' }]) {
    const answer = await patchTask(app, alice, id, { status: 'active', ...again });
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { scheduledFor: ['has passed: give a new one in the future'] });
  }
  const past = await patchTask(app, alice, id, { status: 'active', scheduledFor: '2026-11-20T10:59:00Z' });
  t.same(past.json().details, { scheduledFor: ['must be in the future'] });
  const scheduledFor = '2026-11-20T11:00:00.001Z';
  t.match((await patchTask(app, alice, id, { status: 'active', scheduledFor })).json().task, {
    status: 'active',
    nextExecutionAt: scheduledFor,
  });
});

t.test('A task that has ended cannot be paused', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrence: 'once' });
  clock.set(TASK.scheduledFor);
  await runDueWith(createFixedAi(REFUSED_OUTCOME));
  t.match(await readTask(app, alice, id), { status: 'failed' });
  const answer = await patchTask(app, alice, id, { status: 'paused' });
  t.equal(answer.statusCode, 400);
  t.same(answer.json().details, { status: ['only an active task can be paused'] });
  const scheduledFor = '2026-11-21T11:00:00.000Z';
  const stored = (await patchTask(app, alice, id, { status: 'paused', scheduledFor })).json().task;
  t.match(stored, { status: 'paused', scheduledFor, nextExecutionAt: null }, 'a new time is accepted');
});

t.test('A task that failed too often starts with no failures after it is resumed', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  for (let day = 20; day < 25; day++) {
    clock.set(`2026-11-${day}T11:00:00Z`);
    await runDueWith(createFixedAi(REFUSED_OUTCOME));
  }
  t.match(await readTask(app, alice, id), { status: 'failed', nextExecutionAt: null });
  t.match((await patchTask(app, alice, id, { name: 'Renamed' })).json().task, { status: 'failed' });
  const { task } = (await patchTask(app, alice, id, { status: 'active' })).json();
  t.match(task, { status: 'active', nextExecutionAt: '2026-11-25T11:00:00.000Z' });
  clock.set('2026-11-25T11:00:00Z');
  await runDueWith(createFixedAi(REFUSED_OUTCOME));
  t.match(await readTask(app, alice, id), { status: 'active' }, 'the next failure counts as the first');
});

t.test('A scheduled retry is deleted by a pause, and does not block later runs', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  clock.set(TASK.scheduledFor);
  await runDueWith(createFixedAi(BUSY_OUTCOME));
  const failed = { status: 'failed', trigger: 'schedule' };
  t.match(await runsOf(id), [failed, { status: 'pending', trigger: 'retry' }]);
  await patchTask(app, alice, id, { name: 'Renamed' });
  t.equal((await runsOf(id)).length, 2, 'another change leaves the retry');
  await patchTask(app, alice, id, { status: 'paused' });
  t.match(await runsOf(id), [failed]);
  await patchTask(app, alice, id, { status: 'active' });
  clock.advance(60_000);
  await runDue(ctx);
  t.equal((await runsOf(id)).length, 1);
  clock.set('2026-11-21T11:00:00Z');
  await runDue(ctx);
  t.match(await runsOf(id), [failed, { status: 'completed', trigger: 'schedule' }]);
  t.match(await readLedger(ctx, id), [
    [TASK.scheduledFor, 'ran'],
    ['2026-11-21T11:00:00.000Z', 'ran'],
  ]);
});

t.test('A run that was queued before the pause still runs', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: alice.headers });
  await patchTask(app, alice, id, { status: 'paused' });
  await runDue(ctx);
  t.match(await runsOf(id), [{ status: 'completed', trigger: 'manual' }]);
  t.match(await readTask(app, alice, id), { status: 'paused', executionCount: 1 });
});

t.test('A concurrent pause and tick leave either a run or a missed occurrence', async (t) => {
  const alice = await signUp(app);
  const ids: number[] = [];
  for (let n = 0; n < 8; n++) ids.push(await postTask(app, alice, { aiModel: 'offline' }));
  clock.set(TASK.scheduledFor);
  await Promise.all([...ids.map((id) => patchTask(app, alice, id, { status: 'paused' })), runDue(ctx)]);
  await runDue(ctx);
  for (const id of ids) {
    t.match(await readTask(app, alice, id), { status: 'paused', nextExecutionAt: null });
    const [[at, fate] = [], ...more] = await readLedger(ctx, id);
    t.same([at, more], [TASK.scheduledFor, []]);
    t.equal((await runsOf(id)).length, fate === 'missed' ? 0 : 1);
  }
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, alice.id)), 8);
});
