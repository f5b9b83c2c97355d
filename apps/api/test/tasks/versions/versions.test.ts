import { tasks, taskVersions, uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { callChannel, postChannel } from '../../support/channels.ts';
import { START, testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUp } from '../../support/people.ts';
import { INVALID_IDS, insertUpload, patchTask, postTask, readTask, runDue, TASK } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app);
});
const MINUTE = 60_000;

const get = ({ headers }: Pick<Person, 'headers'>, id: number, path = '') =>
  app.inject({ url: `/api/tasks/${id}/versions${path}`, headers });
const list = async (id: number, query = '') => (await get(alice, id, query)).json().versions;
const restore = ({ headers }: Pick<Person, 'headers'>, id: number, number: number, more: object = {}) =>
  app.inject({ method: 'POST', url: `/api/tasks/${id}/versions/${number}/restore`, headers: { ...headers, ...more } });
const change = async (id: number, given: object) => {
  const { statusCode, body } = await patchTask(app, alice, id, given);
  if (statusCode !== 200) throw new Error(body);
};
const prompts = async (id: number) => {
  const found = [];
  for (const { number } of await list(id)) found.push((await get(alice, id, `/${number}`)).json().version.task.prompt);
  return found;
};
const [ONE, TWO, THREE] = ['The first prompt.', 'The second prompt.', 'The third prompt.'] as const;

t.test('Creation is version 1, and a change of what a run uses makes the next one', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  const first = { number: 1, at: START.toISOString(), by: alice.id, via: 'api', fields: [] };
  t.same((await get(alice, id)).json(), {
    success: true,
    versions: [first],
    pagination: { total: 1, limit: 20, offset: 0, hasMore: false, nextCursor: null },
  });
  clock.advance(MINUTE);
  await change(id, { prompt: TWO, maxTokens: 5, name: 'Another name' });
  const second = {
    number: 2,
    at: '2026-11-20T10:01:00.000Z',
    by: alice.id,
    via: 'api',
    fields: ['prompt', 'maxTokens'],
  };
  t.same(await list(id), [second, first]);
  const settings = {
    aiModel: (await readTask(app, alice, id)).aiModel,
    ...{
      fallbackModels: [],
      temperature: 70,
      timeoutMs: null,
      maxRetries: 3,
      outputSchema: null,
      inputs: [],
      sources: [],
      runIf: 'always',
      tools: [],
    },
    ...{ context: { clock: true, previousResult: false }, maxToolUses: 5, requireTools: false, attachments: [] },
    channels: [],
  };
  t.same((await get(alice, id, '/2')).json(), {
    success: true,
    version: { ...second, task: { ...settings, prompt: TWO, maxTokens: 5 } },
  });
  t.same((await get(alice, id, '/1')).json().version, {
    ...first,
    task: { ...settings, prompt: ONE, maxTokens: 1024 },
  });
  t.equal((await get(alice, id, '/3')).statusCode, 404);
});

t.test('A change of anything else makes none', async (t) => {
  const id = await postTask(app, alice);
  const channel = await postChannel(app, alice);
  for (const given of [
    { name: 'Renamed' },
    { description: 'Why.' },
    { status: 'paused' },
    { recurrence: 'weekly' },
    { scheduledFor: '2026-11-25T11:00:00.000Z' },
    { webhookUrl: 'https://hooks.example.com/end' },
    { notificationEmail: 'alice@example.com' },
    { channels: [channel.id] },
    { notify: 'change' },
    { monthlyBudgetUsd: 5 },
    { prompt: TASK.prompt },
    { context: { clock: true } },
  ]) {
    await change(id, given);
  }
  t.equal((await list(id)).length, 1);
});

t.test('Each field that a run uses makes a version', async (t) => {
  const id = await postTask(app, alice);
  const other = await postTask(app, alice);
  const file = await insertUpload(ctx, alice);
  for (const given of [
    { prompt: TWO },
    { aiModel: 'offline' },
    { fallbackModels: ['another'] },
    { maxTokens: 10 },
    { temperature: 10 },
    { timeoutMs: 5000 },
    { maxRetries: 0 },
    { context: { previousResult: true } },
    { outputSchema: { type: 'object' } },
    { inputs: [{ taskId: other, name: 'other' }] },
    { sources: [{ name: 'page', url: 'https://example.com' }], runIf: 'changed' },
    { maxToolUses: 3 },
    { attachments: [file.id] },
  ]) {
    clock.advance(11 * MINUTE);
    await change(id, given);
    const [latest] = await list(id);
    t.same(latest.fields, Object.keys(given));
    t.match((await get(alice, id, `/${latest.number}`)).json().version.task, given);
  }
  t.equal((await list(id)).length, 14);
});

t.test('Changes by the same way within 10 minutes of the first are one', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  clock.advance(10 * MINUTE);
  await change(id, { maxTokens: 7 });
  t.match(await list(id), [{ number: 2, at: START.toISOString(), fields: ['prompt', 'maxTokens'] }, { number: 1 }]);
  await change(id, { prompt: ONE });
  t.match(await list(id), [{ number: 2, fields: ['maxTokens'] }, {}], 'what is as before is no difference');
  clock.advance(1);
  await change(id, { prompt: THREE });
  t.match(await list(id), [{ number: 3, fields: ['prompt'] }, { number: 2 }, { number: 1 }]);
  t.same(await prompts(id), [THREE, ONE, ONE]);
});

t.test('The creation stays what it was', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  t.same(await prompts(id), [TWO, ONE]);
});

t.test('A version that a run has used stays as it was, and the run names it', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  const run = (await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers: alice.headers })).json();
  const readRun = async () =>
    (await app.inject({ url: `/api/executions/${run.executionId}`, headers: alice.headers })).json().execution;
  t.equal((await readRun()).taskVersion, null);
  await runDue(ctx);
  t.match(await readRun(), { taskVersion: 2, request: { prompt: TWO } });
  await change(id, { prompt: THREE });
  t.same(await prompts(id), [THREE, TWO, ONE]);
  t.equal((await readRun()).taskVersion, 2);
});

t.test('Changes by another way are another version', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  const { headers } = await createKey(app, alice);
  const call = { name: 'update_task', arguments: { taskId: id, prompt: THREE } };
  const answer = await app.inject({
    ...{ method: 'POST', url: '/mcp', headers: { ...headers, accept: 'application/json, text/event-stream' } },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
  });
  t.notMatch(answer.body, /isError/);
  t.match(await list(id), [
    { number: 3, via: 'mcp' },
    { number: 2, via: 'api' },
    { number: 1, via: 'api' },
  ]);
});

t.test('A copy begins with version 1', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  const copy = (await app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers: alice.headers })).json()
    .task.id;
  t.match(await list(copy), [{ number: 1 }]);
  t.same(await prompts(copy), [TWO]);
});

t.test('A restore is a new version, and leaves status, schedule and name', async (t) => {
  const file = await insertUpload(ctx, alice);
  const channel = await postChannel(app, alice);
  const outputSchema = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } };
  const given = { prompt: ONE, attachments: [file.id], channels: [channel.id], outputSchema };
  const id = await postTask(app, alice, given);
  await change(id, { prompt: TWO, attachments: [], channels: [], outputSchema: null });
  await change(id, { status: 'paused', name: 'Renamed', recurrence: 'weekly' });
  const before = await readTask(app, alice, id);
  clock.advance(MINUTE);
  const answer = await restore(alice, id, 1);
  t.equal(answer.statusCode, 200);
  const updatedAt = '2026-11-20T10:01:00.000Z';
  t.same(answer.json(), { success: true, task: { ...before, ...given, updatedAt } });
  t.equal(answer.headers.etag, (await app.inject({ url: `/api/tasks/${id}`, headers: alice.headers })).headers.etag);
  t.same(Object.keys(answer.json().task.outputSchema.properties), ['b', 'a']);
  t.match(await list(id), [{ number: 3, fields: ['prompt', 'outputSchema', 'attachments'] }, { number: 2 }, {}]);
  t.same((await restore(alice, id, 3)).json().task, answer.json().task, 'a second one changes nothing');
  t.equal((await list(id)).length, 3);
});

t.test('A restore of a version without sources also brings back that it always runs', async (t) => {
  const id = await postTask(app, alice);
  await change(id, { sources: [{ name: 'page', url: 'https://example.com' }], runIf: 'changed' });
  t.match((await restore(alice, id, 1)).json().task, { sources: [], runIf: 'always' });
});

t.test('What is lost is named, and nothing is restored', async (t) => {
  const file = await insertUpload(ctx, alice);
  const channel = await postChannel(app, alice);
  const other = await postTask(app, alice);
  const inputs = [{ taskId: other, name: 'other' }];
  const id = await postTask(app, alice, { attachments: [file.id], channels: [channel.id], inputs, prompt: ONE });
  await change(id, { prompt: TWO, attachments: [], channels: [], inputs: [] });
  const before = await readTask(app, alice, id);

  await app.inject({ method: 'DELETE', url: `/api/tasks/${other}`, headers: alice.headers });
  const refusal = async () => {
    const answer = await restore(alice, id, 1);
    t.equal(answer.statusCode, 400);
    return answer.json().details;
  };
  t.same(await refusal(), { inputs: ['item 1 is not one of your tasks'] });
  await callChannel(app, alice, 'DELETE', channel.id);
  await ctx.db.delete(uploads).where(eq(uploads.id, file.id));
  t.same(await refusal(), { attachments: ['item 1 is not one of your files'] });
  t.same(await readTask(app, alice, id), before);
  t.equal((await list(id)).length, 2);

  const only = await postChannel(app, alice);
  const second = await postTask(app, alice, { channels: [only.id], prompt: ONE });
  await change(second, { prompt: TWO });
  await callChannel(app, alice, 'DELETE', only.id);
  t.same((await restore(alice, second, 1)).json().details, { channels: ['item 1 is not one of your channels'] });
});

t.test('A restore of an outdated ETag is refused', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  t.equal((await restore(alice, id, 1, { 'if-match': '"1-old"' })).statusCode, 412);
  t.equal((await readTask(app, alice, id)).prompt, TWO);
});

t.test('Concurrent changes and restores make each version once', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  await change(id, { prompt: TWO });
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      n % 3 === 0 ? restore(alice, id, 1) : patchTask(app, alice, id, { prompt: `The prompt of change ${n}.` }),
    ),
  );
  t.ok(answers.every(({ statusCode }) => statusCode === 200));
  const rows = await ctx.db.select().from(taskVersions).where(eq(taskVersions.taskId, id)).orderBy(taskVersions.number);
  const numbers = rows.map(({ number }) => number);
  t.same(
    numbers,
    Array.from({ length: rows.length }, (_, at) => at + 1),
  );
  const [task] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  t.equal(task?.version, rows.length);
  const { version } = (await get(alice, id, `/${rows.length}`)).json();
  t.equal(version.task.prompt, task?.prompt);
});

t.test('A task that is older than versions has version 1 before and after its first change', async (t) => {
  const id = await postTask(app, alice, { prompt: ONE });
  const expected = (await get(alice, id, '/1')).json();
  await ctx.db.delete(taskVersions).where(eq(taskVersions.taskId, id));
  t.same((await get(alice, id, '/1')).json(), expected);
  t.match(await list(id), [{ number: 1, by: alice.id, via: 'api', fields: [] }]);
  t.same(await list(id, '?offset=1'), []);
  await change(id, { prompt: TWO });
  t.same(await prompts(id), [TWO, ONE]);
  t.same((await get(alice, id, '/1')).json(), expected);
});

t.test('A field that tasks got later has its default in earlier versions', async (t) => {
  const id = await postTask(app, alice);
  const fields = ['prompt', 'aiModel'];
  const settings = { prompt: ONE, aiModel: 'offline' };
  await ctx.db.update(taskVersions).set({ fields, settings }).where(eq(taskVersions.taskId, id));
  t.match((await get(alice, id, '/1')).json().version.task, { ...settings, maxTokens: 1024, tools: [], inputs: [] });
});

t.test('A long list has pages', async (t) => {
  const id = await postTask(app, alice);
  for (let n = 2; n <= 6; n++) {
    clock.advance(11 * MINUTE);
    await change(id, { maxTokens: n });
  }
  const first = (await get(alice, id, '?limit=4')).json();
  t.match(first.pagination, { total: 6, hasMore: true });
  const second = (await get(alice, id, `?limit=4&cursor=${first.pagination.nextCursor}`)).json();
  const numbers = [...first.versions, ...second.versions].map(({ number }) => number);
  t.same(numbers, [6, 5, 4, 3, 2, 1]);
  t.equal((await get(alice, id, '?cursor=nonsense')).statusCode, 400);
});

t.test("A stranger's versions are not found, and a key needs the scope", async (t) => {
  const id = await postTask(app, alice);
  const bob = await signUp(app);
  for (const path of ['', '/1']) t.equal((await get(bob, id, path)).statusCode, 404);
  t.equal((await restore(bob, id, 1)).statusCode, 404);
  const key = await createKey(app, alice, { scopes: ['tasks:read'] });
  t.equal((await get(key, id, '/1')).statusCode, 200);
  t.equal((await restore(key, id, 1)).statusCode, 403);
  for (const number of INVALID_IDS) {
    t.ok([400, 404].includes((await get(alice, id, `/${number}`)).statusCode), number);
  }
});

t.test('Versions go with their task', async (t) => {
  const id = await postTask(app, alice);
  await app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers: alice.headers });
  t.equal(await ctx.db.$count(taskVersions, eq(taskVersions.taskId, id)), 0);
});
