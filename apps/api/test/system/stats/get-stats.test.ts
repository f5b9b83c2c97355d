import { coupons, queryRows, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { assertNeedsAdmin } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { findInconsistencies } from '../../support/inconsistencies.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../../support/people.ts';
import { insertTask, insertUsage } from '../../support/task-rows.ts';
import { BUSY_OUTCOME, createFixedAi, REFUSED_OUTCOME, runDue } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
const DAY = 24 * 3_600_000;
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await ctx.db.delete(coupons);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
});
t.afterEach(async () => {
  const faults = [...(await findInconsistencies(ctx)), ...(await findMiscounts())];
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

/** Days and months whose counters differ from the executions. */
const findMiscounts = () =>
  queryRows<object>(
    ctx.db,
    sql`
    with there_are as (
      select e.user_id, p.period, count(*) filter (where status = 'completed') as completed,
        count(*) filter (where status = 'failed') as failed
      from executions e
        cross join lateral (select coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text as day) d
        cross join lateral (values (day), (left(day, 7))) p(period)
      where status in ('completed', 'failed') group by 1, 2
    )
    select user_id, period, c.completed, c.failed, t.completed as completed_there, t.failed as failed_there
    from usage_counters c full join there_are t using (user_id, period)
    where (coalesce(c.completed, 0), coalesce(c.failed, 0)) <> (coalesce(t.completed, 0), coalesce(t.failed, 0))`,
  );

const get = async () => {
  const answer = await app.inject({ url: '/api/admin/stats', headers: ada.headers });
  t.equal(answer.statusCode, 200);
  return answer.json();
};
const offline = { aiModel: 'offline' };

t.test('An empty service has all counts, and they are 0', async (t) => {
  t.same(await get(), {
    users: { total: 2, active: 2, inactive: 0, newLast30Days: 2 },
    tasks: { total: 0, active: 0, inactive: 0 },
    executions: {
      total: 0,
      last30Days: 0,
      byStatus: { completed: 0, failed: 0, pending: 0, running: 0 },
      successRate: 0,
    },
    coupons: { total: 0, active: 0, inactive: 0 },
    topUsers: [],
  });
});

t.test('Users, tasks and coupons are counted by status', async (t) => {
  const bob = await signUpBob(app);
  await ctx.db
    .update(users)
    .set({ isActive: false, createdAt: new Date('2026-10-01') })
    .where(eq(users.id, bob.id));
  for (const status of ['active', 'active', 'paused', 'completed', 'failed'] as const) {
    await insertTask(ctx, alice.id, { status, nextExecutionAt: null });
  }
  const made = { value: 1, createdByEmail: ada.email, createdAt: START, updatedAt: START };
  await ctx.db.insert(coupons).values([
    { ...made, code: 'A' },
    { ...made, code: 'B', isActive: false },
    { ...made, code: 'C', isActive: false },
  ]);
  t.match(await get(), {
    users: { total: 3, active: 2, inactive: 1, newLast30Days: 2 },
    tasks: { total: 5, active: 2, inactive: 3 },
    coupons: { total: 3, active: 1, inactive: 2 },
  });
});

t.test('Executions are counted by status, and by user', async (t) => {
  const bob = await signUpBob(app);
  for (let n = 0; n < 2; n++) await insertTask(ctx, alice.id, offline);
  await runDue(ctx);
  await insertTask(ctx, bob.id);
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  for (let n = 0; n < 3; n++) await insertTask(ctx, bob.id);
  await enqueueDue(ctx);
  await pipeline.claim(ctx, { limit: 1, after: 0 });
  const { executions, topUsers } = await get();
  t.same(executions, {
    total: 6,
    last30Days: 6,
    byStatus: { completed: 2, failed: 1, pending: 2, running: 1 },
    successRate: 66.67,
  });
  t.same(topUsers, [
    { userId: bob.id, userName: 'Bob', userEmail: bob.email, executionCount: 4 },
    { userId: alice.id, userName: 'Alice', userEmail: alice.email, executionCount: 2 },
  ]);
});

t.test('A scheduled retry and a run over quota count as executions', async (t) => {
  await insertTask(ctx, alice.id);
  await runDue({ ...ctx, ai: createFixedAi(BUSY_OUTCOME) });
  await insertUsage(ctx, alice.id, { tokens: 100_000 });
  await insertTask(ctx, alice.id);
  await runDue(ctx);
  t.match((await get()).executions, { total: 3, byStatus: { completed: 0, failed: 2, pending: 1, running: 0 } });
});

t.test('Executions of more than 30 days ago count in the total, and not among the last 30 days', async (t) => {
  clock.set(new Date(START.getTime() - 30 * DAY));
  for (let n = 0; n < 2; n++) {
    await insertTask(ctx, alice.id, { ...offline, recurrence: 'once' });
    await runDue(ctx);
    clock.set(START);
  }
  t.match((await get()).executions, { total: 2, last30Days: 2 });
  clock.advance(DAY);
  t.match((await get()).executions, { total: 2, last30Days: 1 });
});

t.test('Deleted rows are not counted', async (t) => {
  const [id, other] = [await insertTask(ctx, alice.id, offline), await insertTask(ctx, alice.id, offline)];
  await runDue(ctx);
  clock.advance(DAY);
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  await app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers: alice.headers });
  t.match((await get()).executions, { total: 2, byStatus: { completed: 1, failed: 1 }, successRate: 50 });
  await app.inject({ method: 'DELETE', url: `/api/tasks/${other}`, headers: alice.headers });
  t.match(await get(), { executions: { total: 0, last30Days: 0 }, topUsers: [] });
  await insertTask(ctx, alice.id, offline);
  await runDue(ctx);
  await app.inject({ method: 'DELETE', url: `/api/admin/users/${alice.id}`, headers: ada.headers });
  t.match(await get(), { users: { total: 1 }, executions: { total: 0 }, topUsers: [] });
});

t.test('A run that ends on another day counts on the day it started', async (t) => {
  clock.set('2026-11-20T23:59:59.000Z');
  await insertTask(ctx, alice.id, offline);
  const ask: typeof ctx.ai.ask = (request) => {
    clock.advance(5000);
    return ctx.ai.ask(request);
  };
  await runDue({ ...ctx, ai: { ...ctx.ai, ask } });
  t.match((await get()).executions, { total: 1, byStatus: { completed: 1 } });
});

t.test('Statistics need an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { url: '/api/admin/stats' }, { ada, alice });
});
