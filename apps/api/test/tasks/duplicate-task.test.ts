import { deliveries, endpoints, tasks, uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { duplicateTask } from '../../src/product/tasks/duplicate.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { captureEvents } from '../support/deliveries.ts';
import { buildCaller } from '../support/engine.ts';
import { findInconsistencies } from '../support/inconsistencies.ts';
import { type Person, signUp } from '../support/people.ts';
import { readLedger } from '../support/task-rows.ts';
import { INVALID_IDS, insertUpload, patchTask, postTask, readTask, runDue, TASK } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));
t.afterEach(async () => {
  const faults = await findInconsistencies(ctx);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

const copy = ({ headers }: Person, id: number | string, payload?: object) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers, ...(payload ? { payload } : {}) });

t.test('A copy has everything that the owner has set, and nothing of the executions', async (t) => {
  const alice = await signUp(app);
  const file = await insertUpload(ctx, alice);
  const set = {
    description: 'For breakfast.',
    recurrence: 'weekly',
    recurrencePattern: '0 7 * * 1',
    timezone: 'Europe/Lisbon',
    aiModel: 'offline',
    maxTokens: 77,
    temperature: 13,
    attachments: [file.id],
    webhookUrl: 'https://hooks.example.com/news',
    notificationEmail: 'news@example.com',
  };
  const id = await postTask(app, alice, set);
  clock.set('2026-11-20T11:00:00Z');
  await runDue(ctx);
  clock.set('2026-11-20T12:00:00Z');
  const answer = await copy(alice, id);
  t.equal(answer.statusCode, 201);
  const { success, task } = answer.json();
  const original = await readTask(app, alice, id);
  t.equal(success, true);
  t.equal(original.executionCount, 1);
  t.same(task, {
    ...original,
    ...set,
    id: task.id,
    externalId: `task-${task.id}`,
    name: 'Morning news (copy)',
    status: 'active',
    nextExecutionAt: '2026-11-23T07:00:00.000Z',
    executionCount: 0,
    lastExecutionAt: null,
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:00.000Z',
  });
  t.not(task.id, id);
  t.same(await readTask(app, alice, task.id), task);
  const rowOf = async (id: number) => (await ctx.db.select().from(tasks).where(eq(tasks.id, id)))[0];
  t.match(await rowOf(task.id), { consecutiveFailures: 0, lastDurationMs: null });
  t.same(await readLedger(ctx, task.id), []);
});

t.test('A copy of a task that has run continues with the next future run', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { aiModel: 'offline' });
  clock.set('2026-11-25T10:59:59Z');
  t.match((await copy(alice, id)).json().task, {
    scheduledFor: TASK.scheduledFor,
    nextExecutionAt: '2026-11-25T11:00:00.000Z',
  });
  clock.set('2026-11-25T11:00:00Z');
  const { task } = (await copy(alice, id)).json();
  t.match(
    task,
    { nextExecutionAt: '2026-11-26T11:00:00.000Z' },
    'the run that is due at this instant belongs to the original',
  );
  await runDue(ctx);
  t.same(await readLedger(ctx, task.id), []);
});

t.test('The name is the given one, or the name of the task with a suffix, in 100 characters', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { name: 'News' });
  const nameOf = async (id: number, payload?: object) => (await copy(alice, id, payload)).json().task.name;
  t.equal(await nameOf(id, { name: 'Other news' }), 'Other news');
  t.equal(await nameOf(id, {}), 'News (copy)');
  for (const payload of ['', 'null']) {
    const headers = { ...alice.headers, 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers, payload });
    t.equal(answer.json().task.name, 'News (copy)', 'the body is optional');
  }
  for (const [name, copied] of [
    ['a'.repeat(93), `${'a'.repeat(93)} (copy)`],
    ['a'.repeat(94), `${'a'.repeat(93)} (copy)`],
    ['🎵'.repeat(100), `${'🎵'.repeat(93)} (copy)`],
    [`${'a'.repeat(92)} ${'b'.repeat(7)}`, `${'a'.repeat(92)} (copy)`],
  ] as const) {
    await patchTask(app, alice, id, { name });
    const made = await nameOf(id);
    t.equal(made, copied);
    t.ok([...made].length <= 100);
  }
});

t.test('The copy of a task that is not active is paused', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  for (const status of ['paused', 'completed', 'failed'] as const) {
    await ctx.db.update(tasks).set({ status, nextExecutionAt: null }).where(eq(tasks.id, id));
    const { task } = (await copy(alice, id)).json();
    t.match(task, { status: 'paused', nextExecutionAt: null, scheduledFor: TASK.scheduledFor });
    t.match((await patchTask(app, alice, task.id, { status: 'active' })).json().task, {
      nextExecutionAt: TASK.scheduledFor,
    });
  }
});

t.test('The copy of a `once` task is active before its time, and paused after it', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice, { recurrence: 'once' });
  t.match((await copy(alice, id)).json().task, { status: 'active', nextExecutionAt: TASK.scheduledFor });
  clock.set(TASK.scheduledFor);
  t.match(await readTask(app, alice, id), { status: 'active' });
  t.match((await copy(alice, id)).json().task, { status: 'paused', nextExecutionAt: null });
});

t.test('Deleted files are left out of the copy', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app, { name: 'Bob' });
  const files = [await insertUpload(ctx, alice), await insertUpload(ctx, alice), await insertUpload(ctx, alice)];
  const [first, second, third] = files.map((file) => file.id) as [string, string, string];
  const id = await postTask(app, alice, { attachments: [third, first, second] });
  await ctx.db.delete(uploads).where(eq(uploads.id, first));
  await ctx.db.update(uploads).set({ userId: bob.id }).where(eq(uploads.id, second));
  await ctx.db
    .update(tasks)
    .set({ attachments: [third, first, second] })
    .where(eq(tasks.id, id));
  t.same((await copy(alice, id)).json().task.attachments, [third]);
});

t.test('The copy has its own webhook at the same URL, with its own secret', async (t) => {
  const alice = await signUp(app);
  const url = 'https://hooks.example.com/news';
  const id = await postTask(app, alice, { webhookUrl: url, aiModel: 'offline' });
  const { task } = (await copy(alice, id)).json();
  const found = await ctx.db.select().from(endpoints).where(eq(endpoints.userId, alice.id));
  t.same(found.map(({ taskId }) => taskId).sort(), [id, task.id].sort());
  t.same(
    found.map(({ url, purpose, status }) => [url, purpose, status]),
    Array(2).fill([url, 'task', 'active']),
  );
  t.equal(new Set(found.map(({ secretLookup }) => secretLookup)).size, 2);
  await app.inject({ method: 'POST', url: `/api/tasks/${task.id}/execute`, headers: alice.headers });
  await runDue(ctx);
  const own = found.find(({ taskId }) => taskId === task.id);
  const received = await ctx.db
    .select({ webhookId: deliveries.webhookId, event: deliveries.event })
    .from(deliveries)
    .innerJoin(endpoints, eq(endpoints.id, deliveries.webhookId))
    .where(eq(endpoints.userId, alice.id));
  t.same(received, [{ webhookId: own?.id, event: 'execution.completed' }]);
});

t.test('Webhooks receive the new task with its own status', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  const receivedEvents = await captureEvents(ctx, alice);
  const { task } = (await copy(alice, id)).json();
  await patchTask(app, alice, id, { status: 'paused' });
  await copy(alice, id, { name: 'Asleep' });
  const { prompt, recurrence, scheduledFor } = TASK;
  const created = (await receivedEvents()).filter(({ event }) => event === 'task.created');
  t.match(
    created.toSorted((a, b) => a.data.task.id - b.data.task.id),
    [
      {
        data: {
          task: { id: task.id, name: task.name, prompt, recurrence, scheduledFor, status: 'active', createdAt: START },
        },
      },
      { data: { task: { name: 'Asleep', status: 'paused' } } },
    ].map((event) => JSON.parse(JSON.stringify(event))),
  );
});

t.test('An active copy counts as an active task: 402 over the quota, while a paused one needs none', async (t) => {
  const alice = await signUp(app);
  const ids: number[] = [];
  for (let n = 0; n < 9; n++) ids.push(await postTask(app, alice));
  const answers = await Promise.all(ids.map((id) => copy(alice, id)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, ...Array(8).fill(402)]);
  const rejected = answers.find(({ statusCode }) => statusCode === 402);
  t.match(rejected?.json(), {
    error: 'Quota exceeded',
    details: { resource: 'activeTasks', used: 10, limit: 10, resetAt: null },
  });
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, alice.id)), 10);
  await patchTask(app, alice, ids[0] as number, { status: 'paused' });
  const last = await copy(alice, ids[1] as number);
  t.equal(last.statusCode, 201, 'after another task is paused');
  t.equal((await copy(alice, ids[0] as number)).json().task.status, 'paused');
});

t.test('An invalid name and unknown fields are validation errors', async (t) => {
  const alice = await signUp(app);
  const id = await postTask(app, alice);
  for (const [payload, field] of [
    [{ name: 'ab' }, 'name'],
    [{ name: 'a'.repeat(101) }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'Nul \0' }, 'name'],
    [{ prompt: 'Another prompt altogether.' }, 'prompt'],
    [{ userId: 1 }, 'userId'],
  ] as const) {
    const answer = await copy(alice, id, payload);
    t.equal(answer.statusCode, 400, JSON.stringify(payload));
    t.same(Object.keys(answer.json().details), [field]);
  }
  t.equal((await copy(alice, id, ['a list'])).statusCode, 400);
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, alice.id)), 1);
});

t.test('A stranger’s and an unknown task are not found, and not copied', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const id = await postTask(app, alice);
  const answer = await copy(bob, id);
  t.equal(answer.statusCode, 404);
  t.same(answer.json(), { success: false, error: 'Task not found' });
  for (const unknown of [...INVALID_IDS, '2147483647']) t.equal((await copy(alice, unknown)).statusCode, 404, unknown);
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, bob.id)), 0);
  await t.rejects(duplicateTask(ctx, buildCaller(bob.id), id), { message: 'Task not found' });
});

t.test('Duplicating a task needs a session', async (t) => {
  const id = await postTask(app, await signUp(app));
  await assertNeedsSession(t, app, { method: 'POST', url: `/api/tasks/${id}/duplicate` });
});
