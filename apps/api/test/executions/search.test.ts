import { eventPositions, executions, runTexts, searchPositions, tasks } from '@carillon/db';
import { eq, inArray, sql } from 'drizzle-orm';
import t from 'tap';
import { listRuns } from '../../src/product/executions/dashboard.ts';
import { listExecutions } from '../../src/product/executions/read.ts';
import { indexRunTexts } from '../../src/product/executions/search.ts';
import { testEngine } from '../support/engine.ts';
import { signUpBob } from '../support/people.ts';
import { insertEndedRuns, insertTask, insertUsers } from '../support/task-rows.ts';

const { app, ctx, ai, clock, alice, runDue } = await testEngine(t);

const search = async (q: string) => {
  const { executions: found } = await listExecutions(ctx, alice(), { q, limit: 20, offset: 0 });
  return found.map(({ taskId }) => taskId);
};

async function run(text: string, prompt = 'Say something nice.') {
  const taskId = await insertTask(ctx, alice().id, { prompt });
  ai.answer(() => ({ text }));
  await runDue(t);
  return taskId;
}

t.test('Runs are found by words of the result and of the prompt, as in a search engine', async (t) => {
  const price = await run('The compost bin costs 59.90 euros in Antwerp.');
  clock.advance(1000);
  const bells = await run('The bells ring.', 'Which bells ring in Antwerp tonight?');
  t.same(await search('antwerp'), [bells, price]);
  t.same(await search('compost'), [price]);
  t.same(await search('"compost bin"'), [price]);
  t.same(await search('"bin compost"'), []);
  t.same(await search('antwerp -bells'), [price]);
  t.same(await search('compost or bells'), [bells, price]);
  t.same(await search('tonight'), [bells]);
});

t.test('A query without words finds nothing, and no query is an error', async (t) => {
  await run('The bells ring.');
  for (const q of ['', '   ', '-', '"', '!!!', ':*', '&|', "'", '\\', '(((', 'a'.repeat(200)]) {
    t.same(await search(q), [], JSON.stringify(q));
  }
  const headers = { authorization: 'Bearer x' };
  t.equal((await app.inject({ url: '/api/executions?q=x', headers })).statusCode, 401);
});

t.test('A search finds the runs of the caller only, whatever a text says', async (t) => {
  const bob = await signUpBob(app);
  const taskId = await insertTask(ctx, bob.id);
  await insertEndedRuns(ctx, { taskId, userId: bob.id, count: 1 });
  const mine = await run(`The secret of user:${bob.id} is out. Done.`);
  t.same(await search('done'), [mine]);
  for (const q of [`user:${bob.id}`, `user:${alice().id}`])
    t.same(await search(q), q.endsWith(`${bob.id}`) ? [mine] : []);
  await ctx.db.delete(tasks).where(eq(tasks.id, taskId));
});

t.test('Runs of before are stored in the background, and words go with their task', async (t) => {
  const taskId = await insertTask(ctx, alice().id, { status: 'paused', nextExecutionAt: null });
  await insertEndedRuns(ctx, { taskId, userId: alice().id, count: 1500 });
  await run('The bells ring.');
  await indexRunTexts(ctx);
  await indexRunTexts(ctx);
  t.equal(await ctx.db.$count(runTexts), 1501);
  await indexRunTexts(ctx);
  t.equal(await ctx.db.$count(runTexts), 1501, 'nothing is stored twice');
  await ctx.db.delete(tasks).where(eq(tasks.id, taskId));
  t.equal(await ctx.db.$count(runTexts), 1);
});

t.test('Users whose runs end all the time keep no other user waiting', async (t) => {
  const userIds = await insertUsers(ctx, 25);
  await ctx.db.insert(eventPositions).values(userIds.map((userId) => ({ userId, lastId: 1 })));
  const last = userIds.at(-1) as number;
  for (let call = 0; call < 10; call += 1) {
    await indexRunTexts(ctx);
    await ctx.db
      .update(eventPositions)
      .set({ lastId: sql`${eventPositions.lastId} + 1` })
      .where(inArray(eventPositions.userId, userIds.slice(0, -1)));
  }
  t.equal(await ctx.db.$count(searchPositions, eq(searchPositions.userId, last)), 1);
});

t.test('A very long answer is searched by its beginning', async (t) => {
  await run('word '.repeat(10) + Array.from({ length: 60_000 }, (_, n) => `w${n}`).join(' '));
  t.equal((await search('w5')).length, 1);
});

t.test('The list of runs is filtered by what happened', async (t) => {
  const list = async (given: object) =>
    (await listRuns(ctx, alice(), { limit: 25, ...given })).runs.map(({ id }) => id);
  const taskId = await run('The bells ring.');
  const [first] = await list({});
  t.same(await list({ search: 'bells' }), [first]);
  t.same(await list({ unseen: true }), [first]);
  for (const outcome of ['changed', 'late', 'failed', 'over_quota', 'stopped'])
    t.same(await list({ outcome }), [], outcome);
  await ctx.db
    .update(tasks)
    .set({ watch: ['x'] })
    .where(eq(tasks.id, taskId));
  await ctx.db.update(executions).set({ changed: true }).where(eq(executions.taskId, taskId));
  t.same(await list({ outcome: 'changed' }), [first]);
  const fail = (errorCode: 'CANCELLED' | 'QUOTA_EXCEEDED' | 'TIMEOUT') =>
    ctx.db.update(executions).set({ status: 'failed', errorCode }).where(eq(executions.taskId, taskId));
  await fail('CANCELLED');
  t.same([await list({ outcome: 'stopped' }), await list({ outcome: 'failed' })], [[first], []]);
  await fail('TIMEOUT');
  t.same([await list({ outcome: 'stopped' }), await list({ outcome: 'failed' })], [[], [first]]);
  await ctx.db.update(executions).set({ status: 'completed', errorCode: null }).where(eq(executions.taskId, taskId));
});
