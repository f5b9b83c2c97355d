import { ChangeTaskInput } from '@carillon/contract/tasks';
import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { signUp, signUpAda } from '../support/people.ts';
import { INVALID_IDS, insertUpload, patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
const LATER = '2026-11-20T10:00:05.000Z';

t.test('Each field can be changed on its own, and the response is the changed task', async (t) => {
  const alice = await signUp(app);
  const receivedEvents = await captureEvents(ctx, alice, ['task.updated']);
  const id = await postTask(app, alice);
  const { id: file } = await insertUpload(ctx, alice);
  clock.set(LATER);
  for (const change of [
    { name: 'Evening news 🔔' },
    { description: 'So that I know.' },
    { description: '' },
    { description: null },
    { prompt: 'Tell me what happened today.' },
    { aiModel: 'offline' },
    { maxTokens: 200_000 },
    { temperature: 0 },
    { attachments: [file] },
    { webhookUrl: 'https://hooks.example.com/end' },
    { webhookUrl: 'https://hooks.example.com/another' },
    { webhookUrl: null },
    { notificationEmail: 'alice@example.com' },
    { notificationEmail: null },
    { timezone: 'europe/Berlin' },
    { recurrence: 'weekly' },
    { recurrence: 'once' },
    { recurrence: 'monthly' },
  ] as const) {
    const before = await readTask(app, alice, id);
    const answer = await patchTask(app, alice, id, change);
    t.equal(answer.statusCode, 200);
    const after = { ...before, ...change, updatedAt: LATER };
    t.same(answer.json(), { success: true, task: after });
    t.same(await readTask(app, alice, id), after);
    const [field, to] = Object.entries(change)[0] as [string, unknown];
    const updated = {
      task: { id, name: after.name, updatedAt: LATER },
      changes: { [field]: { from: before[field], to } },
    };
    t.match(await receivedEvents(), [{ event: 'task.updated', timestamp: LATER, data: updated }]);
  }
});

t.test('A value that is already set changes nothing and sends no event', async (t) => {
  const alice = await signUp(app);
  const addresses = { webhookUrl: 'https://hooks.example.com/end', notificationEmail: 'alice@example.com' };
  const id = await postTask(app, alice, { recurrencePattern: '0 9 * * 1', ...addresses });
  const receivedEvents = await captureEvents(ctx, alice);
  const task = await readTask(app, alice, id);
  clock.set('2026-11-26T12:00:00Z');
  const { name, description, prompt, scheduledFor, recurrence, recurrencePattern, timezone, ...rest } = task;
  const { aiModel, maxTokens, temperature, attachments, status } = rest;
  const all = { name, description, prompt, scheduledFor, recurrence, recurrencePattern, timezone, aiModel };
  for (const same of [
    {},
    { status: 'active' },
    { scheduledFor: '2026-11-20T12:00:00+01:00' },
    { recurrence },
    { notificationEmail: ' Alice@Example.com' },
    { ...all, ...addresses, maxTokens, temperature, attachments, status },
  ]) {
    const answer = await patchTask(app, alice, id, same);
    t.equal(answer.statusCode, 200);
    t.same(answer.json(), { success: true, task });
  }
  t.same(await readTask(app, alice, id), task, 'also after a change: a due run stays due');
  t.same(await receivedEvents(), []);
});

t.test('Concurrent changes keep each other’s fields', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const receivedEvents = await captureEvents(ctx, alice);
  const changes = [
    { name: 'Changed' },
    { description: 'Changed' },
    { prompt: 'Changed prompt' },
    { aiModel: 'changed' },
    { maxTokens: 7 },
    { temperature: 7 },
    { timezone: 'Asia/Kolkata' },
    { recurrence: 'weekly' },
    { scheduledFor: '2026-12-01T00:00:00.000Z' },
  ];
  const answers = await Promise.all(changes.map((change) => patchTask(app, alice, id, change)));
  t.same(
    answers.map(({ statusCode }) => statusCode),
    changes.map(() => 200),
  );
  t.match(await readTask(app, alice, id), {
    ...Object.assign({}, ...changes),
    nextExecutionAt: '2026-12-01T00:00:00.000Z',
  });
  const received = (await receivedEvents()).map(({ data }) => Object.keys(data.changes));
  const fields = changes.flatMap((change) => Object.keys(change));
  t.same(
    received
      .flat()
      .filter((field) => field !== 'nextExecutionAt')
      .sort(),
    fields.sort(),
    'each change has one event',
  );
});

t.test('A stranger’s and an unknown task are not found, and stay as they are', async (t) => {
  const [alice, bob, ada] = [await signUp(app), await signUp(app, { name: 'Bob' }), await signUpAda(app)];
  const id = await postTask(app, alice);
  const receivedEvents = await captureEvents(ctx, alice);
  for (const person of [bob, ada]) {
    const answer = await patchTask(app, person, id, { name: 'Taken over' });
    t.equal(answer.statusCode, 404);
    t.same(answer.json(), { success: false, error: 'Task not found' });
  }
  for (const unknown of [...INVALID_IDS, '2147483647']) {
    const url = `/api/tasks/${unknown}`;
    const answer = await app.inject({ method: 'PATCH', url, headers: alice.headers, payload: { name: 'Nobody' } });
    t.equal(answer.statusCode, 404, unknown);
  }
  t.equal((await readTask(app, alice, id)).name, TASK.name);
  t.same(await receivedEvents(), []);
});

t.test('Fields that the owner cannot set are rejected by name', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app, { name: 'Bob' });
  const id = await postTask(app, alice);
  const [row] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  for (const field of Object.keys(row ?? {})) {
    if (field in ChangeTaskInput.properties) continue;
    const answer = await patchTask(app, alice, id, { [field]: bob.id });
    t.equal(answer.statusCode, 400, field);
    t.same(answer.json().details, { [field]: ['is not a known field'] });
  }
  t.same((await ctx.db.select().from(tasks).where(eq(tasks.id, id)))[0], row);
});

t.test('Changing a task needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { method: 'PATCH', url: `/api/tasks/${id}`, payload: { name: 'Nobody' } });
});
