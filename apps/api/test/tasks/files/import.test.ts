import { auditLog, tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../../support/context.ts';
import { captureEvents } from '../../support/deliveries.ts';
import { type Person, signUp } from '../../support/people.ts';
import { importFile, line } from '../../support/task-files.ts';
import { patchTask, postTask, readTask, TASK } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

async function find({ id }: Person, externalId: string) {
  const [row] = await ctx.db
    .select()
    .from(tasks)
    .where(and(eq(tasks.userId, id), eq(tasks.externalId, externalId)));
  if (!row) throw new Error(`no task ${externalId}`);
  return row;
}

const count = ({ id }: Person) => ctx.db.$count(tasks, eq(tasks.userId, id));
const NOTHING = { created: 0, updated: 0, unchanged: 0, deleted: 0 };

t.test('An import creates, changes and leaves tasks by their external id, and answers exactly that', async (t) => {
  const alice = await signUp(app);
  const events = await captureEvents(ctx, alice);
  const first = await importFile(app, alice, `${line('a')}\n\n${line('b', { name: 'Other', status: 'active' })}\n`);
  t.equal(first.statusCode, 200);
  const runs = ['2026-11-20', '2026-11-21', '2026-11-22'].map((day) => `${day}T11:00:00.000Z`);
  t.same(first.json(), {
    ...{ success: true, ...NOTHING, created: 2, errors: [] },
    preview: [
      { name: TASK.name, nextRuns: runs },
      { name: 'Other', nextRuns: runs },
    ],
  });
  t.match(
    [await find(alice, 'a'), await find(alice, 'b')],
    [
      { status: 'paused', nextExecutionAt: null },
      { status: 'active', nextExecutionAt: new Date(TASK.scheduledFor) },
    ],
  );
  const { id } = await find(alice, 'b');
  const changed = line('b', { name: 'Third', maxTokens: 5 });
  t.match((await importFile(app, alice, `${line('a')}\n${changed}`)).json(), {
    ...NOTHING,
    ...{ updated: 1, unchanged: 1, preview: [{ name: 'Third' }] },
  });
  t.match(await find(alice, 'b'), { id, name: 'Third', maxTokens: 5, status: 'active' });
  t.match((await importFile(app, alice, line('b'))).json(), { updated: 1 });
  t.match(await find(alice, 'b'), { name: TASK.name, maxTokens: 1024, status: 'active' }, 'a field left out is reset');
  t.match((await importFile(app, alice, line('b', { status: 'paused' }))).json(), { updated: 1 });
  t.match(await find(alice, 'b'), { status: 'paused', nextExecutionAt: null });
  t.same(
    (await events()).map(({ event }: { event: string }) => event),
    ['task.created', 'task.created', 'task.updated', 'task.updated', 'task.updated'],
  );
  const entries = await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'task.imported'));
  t.match(
    entries.map(({ actorId, details }) => [actorId, details]),
    [
      [alice.id, { created: 2, updated: 0, deleted: 0 }],
      [alice.id, { created: 0, updated: 1, deleted: 0 }],
      [alice.id, {}],
      [alice.id, {}],
    ],
  );
});

t.test('An external id is unique for its owner', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  const id = await postTask(app, alice, { externalId: 'mine' });
  await postTask(app, bob, { externalId: 'mine' });
  const other = await postTask(app, alice);
  t.equal((await readTask(app, alice, other)).externalId, `task-${other}`);
  const post = (externalId: string) =>
    app.inject({
      method: 'POST',
      url: '/api/agent/create-task',
      headers: alice.headers,
      payload: { ...TASK, externalId },
    });
  for (const answer of [await post('mine'), await patchTask(app, alice, other, { externalId: 'mine' })]) {
    t.equal(answer.statusCode, 409);
    t.same(answer.json(), { success: false, error: 'Another of your tasks has this externalId.' });
  }
  for (const externalId of ['', ' ', 'x'.repeat(101)]) t.equal((await post(externalId)).statusCode, 400);
  t.equal((await patchTask(app, alice, id, { externalId: 'x'.repeat(100) })).statusCode, 200);
  t.equal((await post('mine')).statusCode, 201);
  const copy = await app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers: alice.headers });
  const { task } = copy.json();
  t.equal(task.externalId, `task-${task.id}`, 'a copy has its own');
  // The next id is taken by a name that an import has brought along.
  await importFile(app, alice, line(`task-${task.id + 2}`));
  const next = await postTask(app, alice);
  t.equal(next, task.id + 3);
  t.equal((await readTask(app, alice, next)).externalId, `task-${next}`);
});

t.test('A schedule that began in the past makes up for nothing', async (t) => {
  const alice = await signUp(app);
  const past = { scheduledFor: '2026-10-01T08:30:00.000Z', status: 'active' };
  await importFile(app, alice, line('a', past));
  const { nextExecutionAt, id } = await find(alice, 'a');
  t.same(nextExecutionAt, new Date('2026-11-21T08:30:00.000Z'));
  t.match((await importFile(app, alice, line('a', { ...past, scheduledFor: '2026-09-01T07:00:00.000Z' }))).json(), {
    updated: 1,
  });
  t.match(await find(alice, 'a'), { id, nextExecutionAt: new Date('2026-11-21T07:00:00.000Z') });
  const once = { ...past, recurrence: 'once' };
  t.match((await importFile(app, alice, line('b', once))).json(), {
    errors: [{ line: 1, field: 'scheduledFor', message: /has passed/ }],
  });
  t.match((await importFile(app, alice, line('b', { ...once, status: 'paused' }))).json(), { created: 1 });
});

t.test('A file says nothing about a task that has ended, unless it has runs ahead', async (t) => {
  const alice = await signUp(app);
  const once = { recurrence: 'once', status: 'active' };
  await importFile(app, alice, `${line('once', once)}\n${line('daily', { status: 'active' })}`);
  const end = (externalId: string, status: 'completed' | 'failed') =>
    ctx.db.update(tasks).set({ status, nextExecutionAt: null }).where(eq(tasks.externalId, externalId));
  await end('once', 'completed');
  await end('daily', 'failed');
  clock.advance(48 * 3_600_000);
  t.match((await importFile(app, alice, `${line('once', once)}\n${line('daily')}`)).json(), {
    ...NOTHING,
    unchanged: 2,
  });
  t.match((await importFile(app, alice, line('daily', { status: 'active' }))).json(), { ...NOTHING, updated: 1 });
  t.match(await find(alice, 'daily'), { status: 'active', nextExecutionAt: new Date('2026-11-23T11:00:00.000Z') });
});

t.test('With one error nothing changes, and each error has its line and field', async (t) => {
  const alice = await signUp(app);
  await importFile(app, alice, line('a'));
  const file = `# tasks
- externalId: a
  name: Changed
  prompt: Tell me what happened overnight.
  scheduledFor: 2026-11-20T11:00:00Z
  recurrence: daily
  timezone: UTC

- externalId: b
  name: x
  prompt: Tell me what happened.
  scheduledFor: tomorrow
  recurrence: daily
  timezone: UTC
  colour: red
  alerts:
    failuresInRow: 0
  recurrencePattern: 99 * * * *
- externalId: a
  name: Again
  prompt: Tell me what happened.
  scheduledFor: 2026-11-20T11:00:00Z
  recurrence: weekly
  timezone: Mars/Base
- externalId: c
  name: Third
  prompt: Tell me what happened.
  scheduledFor: 2026-11-20T11:00:00Z
  recurrence: daily
  recurrencePattern: 99 * * * *
  timezone: UTC
`;
  const errors = [
    { line: 10, field: 'name', message: 'must be at least 3 characters' },
    { line: 12, field: 'scheduledFor', message: /ISO 8601/ },
    { line: 15, field: 'colour', message: 'is not a known field' },
    { line: 17, field: 'alerts.failuresInRow', message: 'must be at least 1' },
    { line: 24, field: 'timezone', message: /time zone/ },
    { line: 30, field: 'recurrencePattern', message: /./ },
  ];
  const refused = await importFile(app, alice, file);
  t.equal(refused.statusCode, 400);
  t.same(Object.keys(refused.json()), ['success', 'error', 'errors']);
  t.match(refused.json(), { success: false, error: 'Validation error' });
  t.match(refused.json().errors, errors);
  t.equal(refused.json().errors.length, errors.length);
  const dry = await importFile(app, alice, file, { query: '?dryRun=true' });
  t.equal(dry.statusCode, 200);
  t.match(dry.json(), {
    success: true,
    created: 0,
    updated: 1,
    errors: refused.json().errors,
    preview: [{ name: 'Changed' }],
  });
  t.match(await find(alice, 'a'), { name: TASK.name });
  t.equal(await count(alice), 1);
});

t.test('A dry run changes nothing', async (t) => {
  const alice = await signUp(app);
  const dry = await importFile(app, alice, line('a'), { query: '?dryRun=true&prune=true' });
  t.match(dry.json(), { ...NOTHING, created: 1, preview: [{ name: TASK.name, nextRuns: [TASK.scheduledFor] }] });
  t.equal(await count(alice), 0);
});

t.test('Pruning deletes only what an import created or changed before, and never all', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  const query = '?prune=true';
  await postTask(app, alice, { externalId: 'by hand' });
  await postTask(app, alice, { externalId: 'untouched' });
  await postTask(app, alice, { externalId: 'touched' });
  await importFile(app, bob, line('b'));
  const all = [line('a'), line('b'), line('touched', { maxTokens: 9 }), line('untouched', { status: 'active' })];
  t.match((await importFile(app, alice, all.join('\n'), { query })).json(), {
    created: 2,
    updated: 1,
    unchanged: 1,
    deleted: 0,
  });
  for (const empty of ['', '# nothing\n', '[]\n', '---\n']) {
    const refused = await importFile(app, alice, empty, { query, type: 'application/yaml' });
    t.match(
      refused.json(),
      { success: false, errors: [{ line: 1, field: 'file', message: /must have a task/ }] },
      empty,
    );
  }
  t.match((await importFile(app, alice, '', { type: 'application/jsonl' })).json(), { success: true, ...NOTHING });
  const some = `${line('b')}\n`;
  t.match((await importFile(app, alice, some, { query: `${query}&dryRun=true` })).json(), {
    ...NOTHING,
    unchanged: 1,
    deleted: 2,
  });
  t.match((await importFile(app, alice, some)).json(), { ...NOTHING, unchanged: 1 });
  t.match((await importFile(app, alice, some, { query })).json(), { ...NOTHING, unchanged: 1, deleted: 2 });
  const left = await ctx.db.select({ name: tasks.externalId }).from(tasks).where(eq(tasks.userId, alice.id));
  t.same(left.map(({ name }) => name).sort(), ['b', 'by hand', 'untouched']);
  t.equal(await count(bob), 1);
});

t.test('The quota of active tasks is checked before anything is written', async (t) => {
  const alice = await signUp(app);
  const file = (active: number) =>
    Array.from({ length: 12 }, (_, at) => line(`t${at}`, { status: at < active ? 'active' : 'paused' })).join('\n');
  const refused = await importFile(app, alice, file(11));
  t.equal(refused.statusCode, 402);
  t.match(refused.json(), { error: 'Quota exceeded', details: { resource: 'activeTasks', used: 0, limit: 10 } });
  t.equal(await count(alice), 0);
  t.match((await importFile(app, alice, file(10))).json(), { created: 12 });
  t.equal((await importFile(app, alice, file(11))).statusCode, 402);
  t.match((await importFile(app, alice, line('t11', { status: 'active' }), { query: '?prune=true' })).json(), {
    ...{ updated: 1, deleted: 11 },
  });
});

t.test('A task without an external id is new at each import', async (t) => {
  const alice = await signUp(app);
  const file = JSON.stringify(TASK);
  for (const _ of [1, 2]) t.match((await importFile(app, alice, file)).json(), { created: 1 });
  t.equal(await count(alice), 2);
});

t.test('Fifty imports at once leave each task once', async (t) => {
  const alice = await signUp(app);
  const file = Array.from({ length: 20 }, (_, at) => line(`t${at}`)).join('\n');
  const answers = await Promise.all(Array.from({ length: 50 }, () => importFile(app, alice, file)));
  t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
  t.equal(answers.filter((answer) => answer.json().created === 20).length, 1);
  t.equal(answers.filter((answer) => answer.json().unchanged === 20).length, 49);
  t.equal(await count(alice), 20);
});

t.test('An import and the creation of the same task at once leave it once', async (t) => {
  const alice = await signUp(app);
  const post = () =>
    app.inject({
      ...{ method: 'POST', url: '/api/agent/create-task', headers: alice.headers },
      payload: { ...TASK, externalId: 'a' },
    });
  const answers = await Promise.all([
    importFile(app, alice, line('a')),
    post(),
    post(),
    importFile(app, alice, line('a')),
  ]);
  for (const { statusCode } of answers) t.ok([200, 201, 409].includes(statusCode), String(statusCode));
  t.equal(await count(alice), 1);
});
