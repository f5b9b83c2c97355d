import { executions, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { signUp } from '../support/people.ts';
import { patchTask, postTask, readTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

t.test('A task can be created paused: it has no next run, and its event says so', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice);
  const id = await postTask(app, alice, { status: 'paused' });
  t.match(await readTask(app, alice, id), { status: 'paused', nextExecutionAt: null, aiModel: 'openai/gpt-5-mini' });
  t.match(await receivedEvents(), [{ event: 'task.created', data: { task: { id, status: 'paused' } } }]);
  clock.set('2026-11-22T12:00:00Z');
  await runDue(ctx);
  t.equal(await ctx.db.$count(executions, eq(executions.taskId, id)), 0);
  t.match((await patchTask(app, alice, id, { status: 'active' })).json().task, {
    status: 'active',
    nextExecutionAt: '2026-11-23T11:00:00.000Z',
  });
});

t.test('A task is active by default', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { status: 'active' });
  t.match(await readTask(app, alice, id), { status: 'active', nextExecutionAt: TASK.scheduledFor });
});

t.test('A paused task does not count as active until it is resumed', async (t) => {
  const alice = await signUp(app);
  await ctx.db.update(settings).set({ maxTasksPerUser: 1 });
  t.teardown(() => ctx.db.update(settings).set({ maxTasksPerUser: 100 }));
  await postTask(app, alice);
  const id = await postTask(app, alice, { status: 'paused' });
  const resumed = await patchTask(app, alice, id, { status: 'active' });
  t.equal(resumed.statusCode, 402);
  t.match(resumed.json().details, { resource: 'activeTasks', used: 1, limit: 1 });
});

t.test('The first run of a paused task must be in the future too', async (t) => {
  const { headers } = await signUp(app);
  const payload = { ...TASK, status: 'paused', scheduledFor: START.toISOString() };
  const answer = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload });
  t.equal(answer.statusCode, 400);
  t.same(answer.json().details, { scheduledFor: ['must be in the future'] });
});

t.test('An account that is deleted meanwhile gets no task', async (t) => {
  const { id, headers } = await signUp(app);
  await app.inject({ url: '/api/user', headers });
  await ctx.db.delete(users).where(eq(users.id, id));
  const payload = { ...TASK, status: 'paused' };
  const answer = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload });
  t.equal(answer.statusCode, 401);
});
