import { randomUUID } from 'node:crypto';
import { settings, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { listen } from '../support/deliveries.ts';
import { type Person, signUp } from '../support/people.ts';
import { assertNeedsSession, insertUpload, postTask, readTask, TASK, UNHURRIED } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t, { env: UNHURRIED });
t.beforeEach(() => clock.set(START));
const create = ({ headers }: Person, given: object = {}) =>
  app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload: { ...TASK, ...given } });
const countTasks = ({ id }: Person) => ctx.db.$count(tasks, eq(tasks.userId, id));

t.test('a task is saved with the defaults and runs first when it was told to', async (t) => {
  const alice = await signUp(app);
  const answer = await create(alice);
  t.equal(answer.statusCode, 201);
  const { taskId } = answer.json();
  t.same(answer.json(), { success: true, taskId });
  t.same(await readTask(app, alice, taskId), {
    id: taskId,
    userId: alice.id,
    ...TASK,
    description: null,
    nextExecutionAt: TASK.scheduledFor,
    recurrencePattern: null,
    aiModel: 'openai/gpt-5-mini',
    maxTokens: 1024,
    temperature: 70,
    status: 'active',
    executionCount: 0,
    lastExecutionAt: null,
    attachments: [],
    webhookUrl: null,
    notificationEmail: null,
    createdAt: START.toISOString(),
    updatedAt: START.toISOString(),
  });
});

t.test('every field that may be given is kept', async (t) => {
  const alice = await signUp(app);
  const { id } = await insertUpload(ctx, alice);
  const given = { description: '', aiModel: 'x/y:free', maxTokens: 1, temperature: 0, attachments: [id] };
  t.match(await readTask(app, alice, await postTask(app, alice, given)), given);
  const most = { description: 'So that I know.', aiModel: 'm'.repeat(200), maxTokens: 200_000, temperature: 200 };
  t.match(await readTask(app, alice, await postTask(app, alice, most)), most);
  const nulls = { description: null, recurrencePattern: null };
  t.match(await readTask(app, alice, await postTask(app, alice, nulls)), nulls);
});

t.test('where the end of a run is told may be given, the mail address as it is kept', async (t) => {
  const alice = await signUp(app);
  const webhookUrl = 'https://hooks.example.com/end?of=run';
  const given = { webhookUrl, notificationEmail: '  Alice@Example.COM ' };
  const kept = { webhookUrl, notificationEmail: 'alice@example.com' };
  t.match(await readTask(app, alice, await postTask(app, alice, given)), kept);
  const nulls = { webhookUrl: null, notificationEmail: null };
  t.match(await readTask(app, alice, await postTask(app, alice, nulls)), nulls);
});

t.test('the model is the one of the system settings unless told', async (t) => {
  const alice = await signUp(app);
  t.teardown(() => ctx.db.update(settings).set({ defaultModel: 'openai/gpt-5-mini' }));
  await ctx.db.update(settings).set({ defaultModel: 'local/llama' });
  t.match(await readTask(app, alice, await postTask(app, alice)), { aiModel: 'local/llama' });
  t.match(await readTask(app, alice, await postTask(app, alice, { aiModel: 'offline' })), { aiModel: 'offline' });
});

t.test('an instant with an offset is kept in UTC, with milliseconds', async (t) => {
  const alice = await signUp(app);
  for (const [given, kept] of [
    ['2026-11-20T13:30:15.1239+02:00', '2026-11-20T11:30:15.123Z'],
    ['2026-11-21T01:00-11:30', '2026-11-21T12:30:00.000Z'],
    ['2026-11-20T10:00:00.001Z', '2026-11-20T10:00:00.001Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+14:00', '9999-12-31T09:59:59.000Z'],
  ] as const) {
    const task = await readTask(app, alice, await postTask(app, alice, { scheduledFor: given }));
    t.match(task, { scheduledFor: kept, nextExecutionAt: kept }, given);
  }
});

t.test('a first run now or in the past is refused', async (t) => {
  const alice = await signUp(app);
  const details = { scheduledFor: ['must be in the future'] };
  for (const scheduledFor of [
    START.toISOString(),
    '2026-11-20T12:00:00+02:00',
    '2026-11-20T09:59:59.999Z',
    '1970-01-01T00:00Z',
  ]) {
    for (const recurrence of ['once', 'daily']) {
      const answer = await create(alice, { scheduledFor, recurrence });
      t.equal(answer.statusCode, 400, scheduledFor);
      t.match(answer.json(), { success: false, error: 'Validation error', details });
    }
  }
  t.equal(await countTasks(alice), 0);
});

t.test('a time zone is taken in any letter case and kept as it was written', async (t) => {
  const alice = await signUp(app);
  for (const timezone of ['utc', 'europe/LISBON', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']) {
    t.equal((await readTask(app, alice, await postTask(app, alice, { timezone }))).timezone, timezone);
  }
});

t.test('a pattern decides the word of the recurrence', async (t) => {
  const alice = await signUp(app);
  for (const [recurrencePattern, recurrence] of [
    ['*/5 * * * *', 'daily'],
    ['0 9 * * 1-5', 'weekly'],
    ['0 9 * * MON#2', 'monthly'],
    ['0 9 1,15 * *', 'monthly'],
    ['0 9 29 2 *', 'monthly'],
  ] as const) {
    const task = await readTask(app, alice, await postTask(app, alice, { recurrence: 'once', recurrencePattern }));
    t.match(task, { recurrence, recurrencePattern, nextExecutionAt: TASK.scheduledFor }, recurrencePattern);
  }
});

t.test('what creation needs is required', async (t) => {
  const alice = await signUp(app);
  for (const field of Object.keys(TASK)) {
    const answer = await create(alice, { [field]: undefined });
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { [field]: ['is required'] });
  }
  const nothing = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers: alice.headers });
  t.equal(nothing.statusCode, 400);
  t.equal(await countTasks(alice), 0);
});

t.test('task.created is told to the owner, once the task is there', async (t) => {
  clock.advance(60_000);
  const now = new Date(START.getTime() + 60_000).toISOString();
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const [heard, others, deaf] = [
    await listen(ctx, alice),
    await listen(ctx, bob),
    await listen(ctx, alice, ['task.updated']),
  ];
  const id = await postTask(app, alice, { recurrence: 'once', recurrencePattern: '0 9 * * 1' });
  const { name, prompt, scheduledFor } = TASK;
  t.match(await heard(), [
    {
      event: 'task.created',
      timestamp: now,
      data: { task: { id, name, prompt, recurrence: 'weekly', scheduledFor, status: 'active', createdAt: now } },
    },
  ]);
  await create(alice, { name: 'ab' });
  await create(alice, { attachments: [randomUUID()] });
  t.same([...(await heard()), ...(await others()), ...(await deaf())], []);
});

t.test('only who is signed in creates', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/agent/create-task', payload: TASK });
});
