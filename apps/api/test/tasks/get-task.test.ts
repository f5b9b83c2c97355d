import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { signUp, signUpAda } from '../support/people.ts';
import { INVALID_IDS, postTask, readTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

t.test('The owner sees every field of the contract and no other', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  const answer = await app.inject({ url: `/api/tasks/${id}`, headers: alice.headers });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  t.same(Object.keys(answer.json()), ['success', 'task']);
  t.same(Object.keys(answer.json().task), [
    'id',
    'userId',
    'externalId',
    'name',
    'description',
    'prompt',
    'scheduledFor',
    'nextExecutionAt',
    'recurrence',
    'recurrencePattern',
    'interval',
    'timezone',
    'aiModel',
    'maxTokens',
    'temperature',
    'status',
    'executionCount',
    'lastExecutionAt',
    'attachments',
    'webhookUrl',
    'notificationEmail',
    'channels',
    'fallbackModels',
    'context',
    'outputSchema',
    'inputs',
    'tools',
    'maxToolUses',
    'requireTools',
    'sources',
    'runIf',
    'notify',
    'watch',
    'missed',
    'overlap',
    'endsAt',
    'maxRuns',
    'pausedUntil',
    'timeoutMs',
    'monthlyBudgetUsd',
    'maxRetries',
    'alerts',
    'createdAt',
    'updatedAt',
  ]);
});

t.test('A run moves the next one on and is counted when it has started', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  clock.set('2026-11-20T11:00:02.345Z');
  t.match(await readTask(app, alice, id), {
    nextExecutionAt: TASK.scheduledFor,
    executionCount: 0,
    lastExecutionAt: null,
  });
  await runDue(ctx);
  t.match(await readTask(app, alice, id), {
    scheduledFor: TASK.scheduledFor,
    nextExecutionAt: '2026-11-21T11:00:00.000Z',
    executionCount: 1,
    lastExecutionAt: '2026-11-20T11:00:02.345Z',
    status: 'active',
  });
});

t.test('A stranger does not find the task, and an admin does not either', async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const id = await postTask(app, alice);
  for (const { headers } of [bob, ada]) {
    const answer = await app.inject({ url: `/api/tasks/${id}`, headers });
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Task not found' });
  }
});

t.test('An id that cannot exist is not found', async (t) => {
  const { headers } = await signUp(app);
  for (const id of [...INVALID_IDS, '2147483647']) {
    const answer = await app.inject({ url: `/api/tasks/${id}`, headers });
    t.equal(answer.statusCode, 404, id);
    t.match(answer.json(), { success: false, error: String });
  }
});

t.test('Reading a task needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { url: `/api/tasks/${id}` });
});
