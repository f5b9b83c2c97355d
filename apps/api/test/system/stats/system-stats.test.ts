import { DAY_MS } from '@carillon/contract/primitives';
import { executions, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { getSystemStats } from '../../../src/product/system/stats/system.ts';
import { START, testContext } from '../../support/context.ts';
import { type Person, signUpAda, signUpAlice } from '../../support/people.ts';
import { insertTask } from '../../support/task-rows.ts';
import { createFixedAi, REFUSED_OUTCOME, runDue } from '../../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await signUpAda(app);
  alice = await signUpAlice(app);
});

const later = (ms: number) => new Date(START.getTime() + ms);

/** Inserts executions created at these milliseconds after `START`, with ids in this order. */
async function insertRuns(task: number, madeAt: readonly number[], status: 'completed' | 'failed' | 'pending') {
  const rest = {
    completed: { completedAt: START },
    failed: { completedAt: START, errorCode: 'TIMEOUT' as const },
    pending: {},
  }[status];
  const row = { taskId: task, userId: alice.id, status, trigger: 'manual' as const, runAt: START };
  await ctx.db.insert(executions).values(madeAt.map((ms) => ({ ...row, ...rest, createdAt: later(ms) })));
}

t.test('An empty service has all counts, and they are 0', async (t) => {
  t.same(await getSystemStats(ctx), {
    users: { total: 2, active: 2, new24h: 2 },
    tasks: { total: 0, active: 0, paused: 0 },
    executions: { last24h: 0, success: 0, failed: 0, successRate: 0 },
  });
});

t.test('Users and tasks are counted by status', async (t) => {
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  for (const status of ['active', 'active', 'paused', 'completed', 'failed'] as const) {
    await insertTask(ctx, alice.id, { status, nextExecutionAt: null });
  }
  t.match(await getSystemStats(ctx), {
    users: { total: 2, active: 1, new24h: 2 },
    tasks: { total: 5, active: 2, paused: 1 },
  });
  clock.advance(DAY_MS - 1);
  t.match(await getSystemStats(ctx), { users: { new24h: 2 } });
  clock.advance(1);
  t.match(await getSystemStats(ctx), { users: { total: 2, new24h: 0 } });
});

t.test('Executions of the last 24 hours are counted to the millisecond, by result', async (t) => {
  const offline = { aiModel: 'offline', recurrence: 'once' } as const;
  for (let n = 0; n < 2; n++) await insertTask(ctx, alice.id, offline);
  await runDue(ctx);
  clock.advance(1);
  const at = { nextExecutionAt: ctx.now() };
  await insertTask(ctx, alice.id, { ...offline, ...at });
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  const waiting = await insertTask(ctx, alice.id, { nextExecutionAt: null });
  await insertRuns(waiting, [2], 'pending');
  const executionCounts = async () => (await getSystemStats(ctx)).executions;
  t.same(await executionCounts(), { last24h: 4, success: 2, failed: 1, successRate: 66.67 });
  clock.set(later(DAY_MS - 1));
  t.match(await executionCounts(), { last24h: 4 });
  clock.set(later(DAY_MS));
  t.same(await executionCounts(), { last24h: 2, success: 0, failed: 1, successRate: 0 });
  clock.set(later(DAY_MS + 1));
  t.match(await executionCounts(), { last24h: 1, success: 0, failed: 0 });
  clock.set(later(DAY_MS + 2));
  t.match(await executionCounts(), { last24h: 0 });
});

t.test('Executions are found among many, with gaps in the ids, and slightly out of order', async (t) => {
  const task = await insertTask(ctx, alice.id, { nextExecutionAt: null });
  // One every 5 minutes, every other one by a process whose clock is 50 minutes behind.
  const minutes = Array.from({ length: 1000 }, (_, n) => n * 5 - (n % 2) * 50);
  await insertRuns(
    task,
    minutes.map((minute) => minute * 60_000),
    'completed',
  );
  await ctx.db.execute(sql`delete from executions where id % 7 in (1, 2) or id % 100 < 30`);
  const left = await ctx.db.select({ at: executions.createdAt }).from(executions);
  t.ok(left.length > 300);
  for (const hours of [0, 1, 23, 24, 25, 40, 60, 83, 90, 107, 108, 200]) {
    clock.set(later(hours * 3_600_000));
    const since = ctx.now().getTime() - DAY_MS;
    const wanted = left.filter(({ at }) => at.getTime() > since).length;
    t.equal((await getSystemStats(ctx)).executions.last24h, wanted, `${hours} h`);
  }
  await ctx.db.delete(tasks);
  t.match((await getSystemStats(ctx)).executions, { last24h: 0, success: 0 });
});
