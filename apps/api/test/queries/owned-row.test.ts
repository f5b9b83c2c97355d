import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { buildApp } from '../../src/app.ts';
import type { Caller } from '../../src/context.ts';
import { ownExecutions } from '../../src/executions/read.ts';
import { findOwnedRow } from '../../src/queries/owned-row.ts';
import { getTask, ownTasks } from '../../src/tasks/read.ts';
import { type Overrides, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda, whoIs } from '../support/people.ts';
import { NO_IDS, postTask, UNHURRIED } from '../support/tasks.ts';

const { app, ctx } = await testContext(t, { env: UNHURRIED });
const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];

const ask = ({ headers }: Pick<Person, 'headers'>, url: string) => app.inject({ url, headers });

async function callerOf({ token }: Person): Promise<Caller> {
  const caller = await whoIs(ctx, token);
  if (!caller) throw new Error('Nobody is signed in.');
  return caller;
}

/** The texts of the statements that are sent from now on. */
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

t.test('a task and an execution are read by the statement that finds the session', async (t) => {
  const taskId = await postTask(app, alice);
  const executionId = await addExecution(taskId, alice.id);
  const texts = watchStatements(t);
  const task = (await ask(alice, `/api/tasks/${taskId}`)).json();
  t.match(task, { success: true, task: { id: taskId, userId: alice.id, attachments: [] } });
  t.equal(texts.length, 1);
  const execution = (await ask(alice, `/api/executions/${executionId}`)).json();
  t.match(execution, { success: true, execution: { id: executionId, taskId, tokens: null } });
  t.equal(texts.length, 2);
  const same = await getTask(ctx, await callerOf(alice), taskId);
  t.same(JSON.parse(JSON.stringify(same)), task.task, 'the same in both ways');
});

t.test('what is not there, or is of somebody else, costs no more', async (t) => {
  const taskId = await postTask(app, alice);
  const executionId = await addExecution(taskId, alice.id);
  const ada = await signUpAda(app);
  const texts = watchStatements(t);
  const urls = [`/api/tasks/${taskId}`, `/api/executions/${executionId}`];
  for (const person of [bob, ada]) for (const url of urls) t.equal((await ask(person, url)).statusCode, 404);
  for (const url of ['/api/tasks/2147483647', '/api/executions/2147483647'])
    t.equal((await ask(alice, url)).statusCode, 404);
  t.equal(texts.length, 6);
  for (const id of NO_IDS) t.equal((await ask(alice, `/api/tasks/${id}`)).statusCode, 404, id);
  t.equal(texts.length, 6 + NO_IDS.length, 'only the session is looked for');
});

t.test('what has changed is seen by the next request, and what is deleted is gone', async (t) => {
  const id = await postTask(app, alice);
  await ask(alice, `/api/tasks/${id}`);
  await ctx.db.update(tasks).set({ name: 'Another name' }).where(eq(tasks.id, id));
  t.match((await ask(alice, `/api/tasks/${id}`)).json(), { task: { name: 'Another name' } });
  await ctx.db.delete(tasks).where(eq(tasks.id, id));
  t.equal((await ask(alice, `/api/tasks/${id}`)).statusCode, 404);
});

t.test('nobody gets a row without a session', async (t) => {
  const id = await postTask(app, alice);
  for (const headers of [{}, { authorization: 'Bearer x' }])
    t.equal((await app.inject({ url: `/api/tasks/${id}`, headers })).statusCode, 401);
});

t.test('what was read beforehand is handed out once, for its id and kind only', async (t) => {
  const [first, second] = [await postTask(app, alice), await postTask(app, alice)];
  const caller = await callerOf(alice);
  const row = await findOwnedRow(ctx, caller, ownTasks, first);
  if (!row) return t.fail('there is no such task');
  const ahead = { ...row, name: 'read beforehand' };
  ownTasks.readAhead.set(caller, { id: first, row: ahead });
  t.match(await findOwnedRow(ctx, caller, ownTasks, second), { id: second });
  t.equal(await findOwnedRow(ctx, caller, ownExecutions, first), null);
  t.match(await findOwnedRow(ctx, { ...caller }, ownTasks, first), { name: row.name }, 'another request');
  t.equal(await findOwnedRow(ctx, caller, ownTasks, first), ahead);
  t.match(await findOwnedRow(ctx, caller, ownTasks, first), { name: row.name });
});

t.test('only a route that gets one of the caller’s rows may have it read', async (t) => {
  const boot = (routes: Overrides['routes']) => buildApp(ctx, { ...(routes && { routes }) });
  const reads = ownTasks;
  const handler = async ({ caller }: { caller: Caller }) => caller.id;
  await t.rejects(
    boot((app) => app.patch('/x/:id', { config: { access: 'user', reads } }, handler)),
    /PATCH \/x\/:id/,
  );
  await t.rejects(
    boot((app) => app.get('/x/:id', { config: { access: 'public', reads } }, handler)),
    /GET \/x\/:id/,
  );
  await t.rejects(
    boot((app) => app.get('/x/:name', { config: { access: 'user', reads } }, handler)),
    /GET \/x\/:name/,
  );
});
