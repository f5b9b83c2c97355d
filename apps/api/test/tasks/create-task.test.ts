import { randomUUID } from 'node:crypto';
import { settings, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { type Person, signUp } from '../support/people.ts';
import { insertUpload, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const create = ({ headers }: Person, given: object = {}) =>
  app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload: { ...TASK, ...given } });
const countTasks = ({ id }: Person) => ctx.db.$count(tasks, eq(tasks.userId, id));

t.test('A task is stored with the defaults and first runs at its scheduled time', async (t) => {
  const alice = await signUp(app);
  const answer = await create(alice);
  t.equal(answer.statusCode, 201);
  const { taskId } = answer.json();
  t.same(answer.json(), { success: true, taskId });
  t.same(await readTask(app, alice, taskId), {
    id: taskId,
    userId: alice.id,
    externalId: `task-${taskId}`,
    ...TASK,
    description: null,
    nextExecutionAt: TASK.scheduledFor,
    recurrencePattern: null,
    interval: 1,
    aiModel: 'openai/gpt-5-mini',
    maxTokens: 1024,
    temperature: 70,
    status: 'active',
    executionCount: 0,
    lastExecutionAt: null,
    attachments: [],
    webhookUrl: null,
    notificationEmail: null,
    channels: [],
    context: { clock: true, previousResult: false },
    inputs: [],
    outputSchema: null,
    tools: [],
    maxToolUses: 5,
    requireTools: false,
    sources: [],
    runIf: 'always',
    fallbackModels: [],
    notify: 'always',
    watch: [],
    missed: 'latest',
    overlap: 'skip',
    endsAt: null,
    maxRuns: null,
    pausedUntil: null,
    timeoutMs: null,
    monthlyBudgetUsd: null,
    maxRetries: 3,
    alerts: null,
    createdAt: START.toISOString(),
    updatedAt: START.toISOString(),
  });
});

t.test('Every given field is stored', async (t) => {
  const alice = await signUp(app);
  const { id } = await insertUpload(ctx, alice);
  const given = { description: '', aiModel: 'x/y:free', maxTokens: 1, temperature: 0, attachments: [id] };
  t.match(await readTask(app, alice, await postTask(app, alice, given)), given);
  const most = { description: 'So that I know.', aiModel: 'm'.repeat(200), maxTokens: 200_000, temperature: 200 };
  t.match(await readTask(app, alice, await postTask(app, alice, most)), most);
  const nulls = { description: null, recurrencePattern: null };
  t.match(await readTask(app, alice, await postTask(app, alice, nulls)), nulls);
});

t.test('The targets of notifications are stored, the mail address normalized', async (t) => {
  const alice = await signUp(app);
  const webhookUrl = 'https://hooks.example.com/end?of=run';
  const given = { webhookUrl, notificationEmail: '  Alice@Example.COM ' };
  const stored = { webhookUrl, notificationEmail: 'alice@example.com' };
  t.match(await readTask(app, alice, await postTask(app, alice, given)), stored);
  const nulls = { webhookUrl: null, notificationEmail: null };
  t.match(await readTask(app, alice, await postTask(app, alice, nulls)), nulls);
});

t.test('The default model is the model of the system settings', async (t) => {
  const alice = await signUp(app);
  t.teardown(() => ctx.db.update(settings).set({ defaultModel: 'openai/gpt-5-mini' }));
  await ctx.db.update(settings).set({ defaultModel: 'local/llama' });
  t.match(await readTask(app, alice, await postTask(app, alice)), { aiModel: 'local/llama' });
  t.match(await readTask(app, alice, await postTask(app, alice, { aiModel: 'offline' })), { aiModel: 'offline' });
});

t.test('An instant with an offset is stored in UTC, with milliseconds', async (t) => {
  const alice = await signUp(app);
  for (const [given, stored] of [
    ['2026-11-20T13:30:15.1239+02:00', '2026-11-20T11:30:15.123Z'],
    ['2026-11-21T01:00-11:30', '2026-11-21T12:30:00.000Z'],
    ['2026-11-20T10:00:00.001Z', '2026-11-20T10:00:00.001Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+14:00', '9999-12-31T09:59:59.000Z'],
  ] as const) {
    const task = await readTask(app, alice, await postTask(app, alice, { scheduledFor: given }));
    t.match(task, { scheduledFor: stored, nextExecutionAt: stored }, given);
  }
});

t.test('A first run now or in the past is rejected', async (t) => {
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

t.test('A time zone is accepted in any letter case and stored as it was written', async (t) => {
  const alice = await signUp(app);
  for (const timezone of ['utc', 'europe/LISBON', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']) {
    t.equal((await readTask(app, alice, await postTask(app, alice, { timezone }))).timezone, timezone);
  }
});

t.test('A pattern decides the word of the recurrence', async (t) => {
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

t.test('The fields that creation needs are required', async (t) => {
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

t.test('`task.created` is sent to the owner after the task is committed', async (t) => {
  clock.advance(60_000);
  const now = new Date(START.getTime() + 60_000).toISOString();
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const [receivedEvents, others, inactive] = [
    await captureEvents(ctx, alice),
    await captureEvents(ctx, bob),
    await captureEvents(ctx, alice, ['task.updated']),
  ];
  const id = await postTask(app, alice, { recurrence: 'once', recurrencePattern: '0 9 * * 1' });
  const { name, prompt, scheduledFor } = TASK;
  t.match(await receivedEvents(), [
    {
      event: 'task.created',
      timestamp: now,
      data: { task: { id, name, prompt, recurrence: 'weekly', scheduledFor, status: 'active', createdAt: now } },
    },
  ]);
  await create(alice, { name: 'ab' });
  await create(alice, { attachments: [randomUUID()] });
  t.same([...(await receivedEvents()), ...(await others()), ...(await inactive())], []);
});

t.test('Creating a task needs a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/agent/create-task', payload: TASK });
});
