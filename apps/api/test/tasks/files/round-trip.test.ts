import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { parse } from 'yaml';
import { testContext } from '../../support/context.ts';
import { type Person, signUp } from '../../support/people.ts';
import { exportFile, importFile, JSONL, line } from '../../support/task-files.ts';
import { insertUpload, patchTask, postTask, readTask, TASK } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);

const SCHEMA = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

async function createChannel({ headers }: Person, name: string): Promise<string> {
  const payload = { kind: 'ntfy', name, url: 'https://ntfy.example.com', topic: 'secret-topic', token: 'tk_secret' };
  const answer = await app.inject({ method: 'POST', url: '/api/channels', headers, payload });
  return answer.json().channel.id;
}

/** Without what a new task has anew. */
function strip(
  { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, inputs, ...task }: Record<string, unknown>,
  names: ReadonlyMap<number, string>,
) {
  const named = (inputs as { taskId: number; name: string }[]).map(({ taskId, name }) => [names.get(taskId), name]);
  return { ...task, inputs: named };
}

async function readAll(alice: Person) {
  const rows = await ctx.db.select({ id: tasks.id }).from(tasks).where(eq(tasks.userId, alice.id)).orderBy(tasks.name);
  const found = await Promise.all(rows.map(({ id }) => readTask(app, alice, id)));
  const names = new Map(found.map(({ id, externalId }) => [id, externalId]));
  return found.map((task) => strip(task, names));
}

const deleteAll = (alice: Person) => ctx.db.delete(tasks).where(eq(tasks.userId, alice.id));

t.test('Exported, deleted and imported, tasks are equal', async (t) => {
  const alice = await signUp(app);
  const channels = [await createChannel(alice, 'Phone: "loud"'), await createChannel(alice, 'Desk')];
  const { id: upload } = await insertUpload(ctx, alice);
  await postTask(app, alice);
  await postTask(app, alice, {
    externalId: 'price',
    name: 'Price: of "it" # now',
    description: '- no list',
    prompt: 'First line: {{date}}\n\n  indented\n# no comment\ttab\u00a0 é 😀\n- last\n\n',
    recurrencePattern: '0 7 * * 1-5',
    timezone: 'Europe/Lisbon',
    maxTokens: 4000,
    temperature: 0,
    attachments: [upload],
    channels,
    context: { clock: false, previousResult: true },
    outputSchema: SCHEMA,
    notify: 'change',
    watch: ['price'],
    missed: 'none',
    overlap: 'queue',
    maxRuns: 12,
    endsAt: '2027-11-20T11:00:00.000Z',
    timeoutMs: 30_000,
    monthlyBudgetUsd: 1.5,
    maxRetries: 0,
    fallbackModels: ['openai/gpt-5'],
    alerts: { failuresInRow: 2 },
    webhookUrl: 'https://hooks.example.com/price',
    notificationEmail: 'price@example.com',
    status: 'paused',
  });
  const past = await postTask(app, alice, { name: 'Over', recurrence: 'once' });
  await patchTask(app, alice, past, { status: 'paused' });
  const yes = await postTask(app, alice, {
    name: 'Yes',
    inputs: [{ taskId: past, name: 'over' }],
    interval: 3,
    pausedUntil: '2026-11-22T00:00:00.000Z',
  });
  // They read each other, and the first one comes earlier in the file.
  await patchTask(app, alice, past, { inputs: [{ taskId: yes, name: 'yes' }] });
  clock.advance(26 * 3_600_000);
  await ctx.db
    .update(tasks)
    .set({ nextExecutionAt: new Date('2026-11-21T11:00:00.000Z') })
    .where(eq(tasks.name, TASK.name));
  await ctx.db.insert(tasks).values({
    ...{ userId: alice.id, name: 'Zone', prompt: TASK.prompt, scheduledFor: new Date('2026-11-01T00:00:00.000Z') },
    ...{ recurrence: 'once', timezone: 'UTC', aiModel: 'offline', maxTokens: 1, temperature: 1, status: 'completed' },
    ...{ createdAt: ctx.now(), updatedAt: ctx.now() },
  });
  clock.set(new Date('2026-11-21T10:30:00.000Z'));
  const before = await readAll(alice);
  for (const type of ['application/yaml', JSONL]) {
    const file = await exportFile(app, alice, type);
    t.notMatch(file, /secret|ntfy|"[0-9a-f]{8}-/, 'the file has no secrets or ids');
    const again = await importFile(app, alice, file, { type });
    t.match(again.json(), { created: 0, updated: 0, unchanged: 5, deleted: 0, errors: [], preview: [] });
    t.same(await readAll(alice), before);
    await deleteAll(alice);
    const answer = await importFile(app, alice, file, { type });
    t.equal(answer.statusCode, 200, answer.body);
    t.match(answer.json(), { success: true, created: 5, updated: 0, unchanged: 0, deleted: 0, errors: [] });
    t.same(await readAll(alice), before, type);
    t.equal(await exportFile(app, alice, type), file, 'the same file again');
  }
});

t.test('The file is YAML unless JSONL is wanted, without defaults and tasks of others', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  t.equal(await exportFile(app, alice), '[]\n');
  t.equal(await exportFile(app, alice, JSONL), '');
  clock.set(new Date('2026-11-20T10:00:00.000Z'));
  await postTask(app, bob, { externalId: 'his' });
  await postTask(app, alice, {
    externalId: 'news',
    webhookUrl: 'https://hooks.example.com/s3cret',
    notificationEmail: 'a@example.com',
  });
  const addresses = { webhookUrl: 'https://hooks.example.com/s3cret', notificationEmail: 'a@example.com' };
  const expected = { externalId: 'news', ...TASK, ...addresses, aiModel: 'openai/gpt-5-mini', status: 'active' };
  t.same(parse(await exportFile(app, alice)), [expected]);
  t.same(JSON.parse(await exportFile(app, alice, `${JSONL}, */*;q=0.1`)), expected);
  const { headers } = await app.inject({ url: '/api/user/tasks', headers: alice.headers });
  t.match(headers, { 'content-type': 'application/yaml; charset=utf-8', vary: /accept/i });
});

t.test('Addresses that a file leaves out are removed', async (t) => {
  const alice = await signUp(app);
  clock.set(new Date('2026-11-20T10:00:00.000Z'));
  const addresses = { webhookUrl: 'https://hooks.example.com/a', notificationEmail: 'a@example.com' };
  const id = await postTask(app, alice, { externalId: 'a', ...addresses });
  t.match((await importFile(app, alice, line('a', { maxTokens: 5 }))).json(), { updated: 1 });
  t.match(await readTask(app, alice, id), { webhookUrl: null, notificationEmail: null, maxTokens: 5 });
});

t.test('Names that are not unique are replaced by ids, and refused in a file', async (t) => {
  const alice = await signUp(app);
  const twins = [await createChannel(alice, 'Twin'), await createChannel(alice, 'Twin')];
  await postTask(app, alice, { externalId: 'a', channels: twins });
  t.same(parse(await exportFile(app, alice))[0].channels, twins);
  const answer = await importFile(app, alice, line('a', { channels: ['Twin', 'Nobody'] }));
  t.same(answer.json(), {
    success: false,
    error: 'Validation error',
    errors: [{ line: 1, field: 'channels', message: 'item 1 is the name of several channels: give an id' }],
  });
});
