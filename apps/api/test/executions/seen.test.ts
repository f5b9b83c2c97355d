import { executions, queryRows, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { buildWebActions } from '../../src/handlers/actions/web/build.ts';
import { isUnseen } from '../../src/platform/queries/runs.ts';
import { countUnseen, seeExecutions } from '../../src/product/executions/seen.ts';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { buildCaller } from '../support/engine.ts';
import { type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';
import { insertEndedRuns, insertQueuedRuns, insertTask, readRuns } from '../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);

const see = ({ headers }: Person, path: string, payload?: object) =>
  app.inject({ method: 'POST', url: `/api/executions/${path}`, headers, ...(payload && { payload }) });
async function unseenIds({ headers }: Person) {
  const answer = await app.inject({ url: '/api/executions?unseen=true', headers });
  return answer.json().executions.map(({ id }: { id: number }) => id);
}
async function insertRuns(person: Person, count: number) {
  const taskId = await insertTask(ctx, person.id);
  await insertEndedRuns(ctx, { taskId, userId: person.id, count });
  return (await readRuns(ctx, taskId)).map(({ id }) => id);
}

t.test('A run that has ended is unseen until it is marked, once', async (t) => {
  const [first, second] = await insertRuns(alice, 2);
  t.same(await unseenIds(alice), [second, first]);
  t.same((await see(alice, `${first}/seen`)).json(), { success: true, seen: 1 });
  clock.advance(60_000);
  t.same((await see(alice, `${first}/seen`)).json(), { success: true, seen: 0 });
  t.same(await unseenIds(alice), [second]);
  const { execution } = (await app.inject({ url: `/api/executions/${first}`, headers: alice.headers })).json();
  t.equal(execution.seenAt, '2026-11-20T10:00:00.000Z');
  t.same((await see(alice, 'seen')).json(), { success: true, seen: 1 });
  t.same((await see(alice, 'seen', {})).json(), { success: true, seen: 0 });
  t.same(await unseenIds(alice), []);
});

t.test('A stranger’s run is not found, and stays unseen', async (t) => {
  const [run] = await insertRuns(alice, 1);
  t.equal((await see(bob, `${run}/seen`)).statusCode, 404);
  t.same((await see(bob, 'seen')).json(), { success: true, seen: 0 });
  t.same(await unseenIds(alice), [run]);
  for (const id of ['0', 'x', '2147483648']) t.equal((await see(alice, `${id}/seen`)).statusCode, 404, id);
});

t.test('A run that waits is never unseen, and marking it does nothing', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const taskId = await insertTask(ctx, carol.id);
  await insertQueuedRuns(ctx, [taskId]);
  const [run] = await readRuns(ctx, taskId);
  t.same((await see(carol, `${run?.id}/seen`)).json(), { success: true, seen: 0 });
  t.same((await see(carol, 'seen')).json(), { success: true, seen: 0 });
  t.same(await unseenIds(carol), []);
  await ctx.db.delete(executions).where(eq(executions.taskId, taskId));
  const [ended] = await insertRuns(carol, 1);
  t.same(await unseenIds(carol), [ended]);
});

t.test('A run that is live while all are marked is unseen once it ends, although its id is smaller', async (t) => {
  const dave = await signUp(app, { name: 'Dave' });
  const taskId = await insertTask(ctx, dave.id);
  await insertQueuedRuns(ctx, [taskId]);
  const [live] = await readRuns(ctx, taskId);
  await insertRuns(dave, 3);
  clock.advance(3_600_000);
  t.equal(await seeExecutions(ctx, buildCaller(dave.id)), 3);
  const at = ctx.now();
  await ctx.db
    .update(executions)
    .set({ status: 'completed', completedAt: at, startedAt: at, archived: true, result: 'Done.' })
    .where(eq(executions.id, live?.id as number));
  t.same(await unseenIds(dave), [live?.id]);
  t.equal(await countUnseen(ctx, dave), 1);
  t.equal(await seeExecutions(ctx, buildCaller(dave.id)), 1);
  const [{ from } = { from: 0 }] = await ctx.db
    .select({ from: users.unseenFromId })
    .from(users)
    .where(eq(users.id, dave.id));
  t.ok(from > (live?.id as number), 'what was seen is not read again');
});

t.test('Runs are marked that ended before an instant, and no others', async (t) => {
  const erin = await signUp(app, { name: 'Erin' });
  const [early] = await insertRuns(erin, 1);
  const before = ctx.now().toISOString();
  clock.advance(1000);
  const [late] = await insertRuns(erin, 1);
  t.same((await see(erin, 'seen', { before })).json(), { success: true, seen: 0 }, 'the instant is not included');
  t.same((await see(erin, 'seen', { before: ctx.now().toISOString() })).json(), { success: true, seen: 1 });
  t.same(await unseenIds(erin), [late]);
  t.not(early, late);
  for (const wrong of ['yesterday', 5, null]) t.equal((await see(erin, 'seen', { before: wrong })).statusCode, 400);
  t.match((await see(erin, 'seen', { after: before })).json(), { details: { after: [/./] } });
});

t.test('A run without news is never unseen', async (t) => {
  const heidi = await signUp(app, { name: 'Heidi' });
  const [run] = await insertRuns(heidi, 1);
  await ctx.db
    .update(executions)
    .set({ outcome: 'nothing_new' })
    .where(eq(executions.id, run as number));
  t.same(await unseenIds(heidi), []);
  t.equal(await countUnseen(ctx, heidi), 0);
  t.same((await see(heidi, `${run}/seen`)).json(), { success: true, seen: 0 });
});

t.test('Two that mark all runs at once count each run once', async (t) => {
  const frank = await signUp(app, { name: 'Frank' });
  await insertRuns(frank, 500);
  const counts = await Promise.all(Array.from({ length: 5 }, () => seeExecutions(ctx, buildCaller(frank.id))));
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    500,
  );
});

t.test('Runs that were seen are not read again', async (t) => {
  const ivan = await signUp(app, { name: 'Ivan' });
  await insertRuns(ivan, 3000);
  clock.advance(3_600_000);
  t.equal(await seeExecutions(ctx, buildCaller(ivan.id)), 3000);
  const unseen = isUnseen(sql`e`, sql`${ivan.id}`);
  const list = sql`select from executions e where e.user_id = ${ivan.id} and ${unseen} order by e.id desc limit 300`;
  const plan = await queryRows(ctx.db, sql`explain (analyze, timing off, format json) ${list}`);
  const removed = JSON.stringify(plan).matchAll(/"Rows Removed by Filter":(\d+)/g);
  t.equal(
    [...removed].reduce((sum, [, rows]) => sum + Number(rows), 0),
    0,
  );
});

t.test('Opening a run in the dashboard sees it', async (t) => {
  const grace = await signUp(app, { name: 'Grace' });
  const [run] = await insertRuns(grace, 1);
  const actions = buildWebActions(ctx);
  await actions.getRun(grace.token, { id: run as number });
  t.same(await unseenIds(grace), []);
  t.same(await actions.seeRuns(grace.token, {}), { success: true, data: { seen: 0 } });
});

t.test('A session, or a key that may read executions, is needed', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/executions/seen' });
});
