import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { buildApp } from '../../src/app.ts';
import type { Caller } from '../../src/context.ts';
import { executionRow } from '../../src/executions/read.ts';
import { findOwnedRow } from '../../src/queries/owned-row.ts';
import { getTask, taskRow } from '../../src/tasks/read.ts';
import { type TestContextOptions, testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { findCallerByToken, type Person, signUp, signUpAda } from '../support/people.ts';
import { INVALID_IDS, postTask } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];

const ask = ({ headers }: Pick<Person, 'headers'>, url: string) => app.inject({ url, headers });

async function callerOf({ token }: Person): Promise<Caller> {
  const caller = await findCallerByToken(ctx, token);
  if (!caller) throw new Error('The token has no session.');
  return caller;
}

/** Collects the statements that are sent to the database from now on. */
function watchStatements(t: Test) {
  const texts: string[] = [];
  for (const db of [ctx.db, ctx.db.onSharedConnection]) {
    const client = Reflect.get(db as object, '$client') as { unsafe(text: string, ...rest: unknown[]): unknown };
    const { unsafe } = client;
    client.unsafe = (text, ...rest) => {
      texts.push(text);
      return unsafe.call(client, text, ...rest);
    };
    t.teardown(() => {
      client.unsafe = unsafe;
    });
  }
  return texts;
}

async function addExecution(taskId: number, userId: number): Promise<number> {
  const at = ctx.now();
  const [row] = await ctx.db
    .insert(executions)
    .values({
      taskId,
      userId,
      status: 'pending',
      trigger: 'manual',
      attempt: 1,
      createdAt: at,
      queuedAt: at,
      runAt: at,
    })
    .returning({ id: executions.id });
  return row?.id ?? 0;
}

t.test('A task and an execution are loaded by the statement that finds the session', async (t) => {
  const taskId = await postTask(app, alice);
  const executionId = await addExecution(taskId, alice.id);
  const texts = watchStatements(t);
  const task = (await ask(alice, `/api/tasks/${taskId}`)).json();
  t.match(task, { success: true, task: { id: taskId, userId: alice.id, attachments: [] } });
  t.equal(texts.length, 1);
  const known = { ...alice.headers, 'if-none-match': '*' };
  t.equal((await app.inject({ url: `/api/tasks/${taskId}`, headers: known })).statusCode, 304);
  t.equal(texts.length, 2, 'a 304 takes no further statement');
  const execution = (await ask(alice, `/api/executions/${executionId}`)).json();
  t.match(execution, { success: true, execution: { id: executionId, taskId, tokens: null } });
  t.equal(texts.length, 3);
  const { revision: _, plannedRuns: __, ...same } = await getTask(ctx, await callerOf(alice), taskId);
  t.same(JSON.parse(JSON.stringify(same)), task.task, 'the same as from the service');
});

t.test('A request with an API key is one statement too, which loads its row', async (t) => {
  const taskId = await postTask(app, alice);
  const key = await createKey(app, alice);
  const stranger = await createKey(app, bob);
  const texts = watchStatements(t);
  t.match((await ask(key, `/api/tasks/${taskId}`)).json(), { success: true, task: { id: taskId, userId: alice.id } });
  t.equal(texts.length, 1);
  t.equal((await ask(stranger, `/api/tasks/${taskId}`)).statusCode, 404);
  t.equal(texts.length, 2);
  t.equal((await ask(key, '/api/auth/session')).statusCode, 403);
  t.equal(texts.length, 3);
});

t.test('A missing row and a row of another user cost no further statement', async (t) => {
  const taskId = await postTask(app, alice);
  const executionId = await addExecution(taskId, alice.id);
  const ada = await signUpAda(app);
  const texts = watchStatements(t);
  const urls = [`/api/tasks/${taskId}`, `/api/executions/${executionId}`];
  for (const person of [bob, ada]) for (const url of urls) t.equal((await ask(person, url)).statusCode, 404);
  for (const url of ['/api/tasks/2147483647', '/api/executions/2147483647'])
    t.equal((await ask(alice, url)).statusCode, 404);
  t.equal(texts.length, 6);
  for (const id of INVALID_IDS) t.equal((await ask(alice, `/api/tasks/${id}`)).statusCode, 404, id);
  t.equal(texts.length, 6 + INVALID_IDS.length, 'an id that no row can have loads nothing');
});

t.test('The next request sees a change and a deletion', async (t) => {
  const id = await postTask(app, alice);
  await ask(alice, `/api/tasks/${id}`);
  await ctx.db.update(tasks).set({ name: 'Another name' }).where(eq(tasks.id, id));
  t.match((await ask(alice, `/api/tasks/${id}`)).json(), { task: { name: 'Another name' } });
  await ctx.db.delete(tasks).where(eq(tasks.id, id));
  t.equal((await ask(alice, `/api/tasks/${id}`)).statusCode, 404);
});

t.test('A request without a session gets no row', async (t) => {
  const id = await postTask(app, alice);
  for (const headers of [{}, { authorization: 'Bearer x' }])
    t.equal((await app.inject({ url: `/api/tasks/${id}`, headers })).statusCode, 401);
});

t.test('A service finds the row of its owner only, by its id and kind', async (t) => {
  const id = await postTask(app, alice);
  t.match(await findOwnedRow(ctx, await callerOf(alice), taskRow, id), { id, userId: alice.id });
  t.equal(await findOwnedRow(ctx, await callerOf(bob), taskRow, id), null);
  t.equal(await findOwnedRow(ctx, await callerOf(alice), executionRow, id), null);
});

t.test('Only a GET route for one row of the caller may load it', async (t) => {
  const boot = (routes: TestContextOptions['routes']) => buildApp(ctx, { ...(routes && { routes }) });
  const loads = taskRow;
  const handler = async ({ caller }: { caller: Caller }) => caller.id;
  await t.rejects(
    boot((app) => app.patch('/x/:id', { config: { access: 'user', loads } }, handler)),
    /PATCH \/x\/:id/,
  );
  await t.rejects(
    boot((app) => app.get('/x/:id', { config: { access: 'public', loads } }, handler)),
    /GET \/x\/:id/,
  );
  await t.rejects(
    boot((app) => app.get('/x/:name', { config: { access: 'user', loads } }, handler)),
    /GET \/x\/:name/,
  );
});
