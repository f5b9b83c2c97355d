import { randomUUID } from 'node:crypto';
import { agentCalls, notifications, usageAlerts, usageRecords, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { createWorker } from '../../src/entry/worker.ts';
import { AppError } from '../../src/errors.ts';
import { type AgentCall, completeCall, rescueAgentCalls, startCall } from '../../src/product/agent/calls.ts';
import { processMessage } from '../../src/product/agent/process.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { deleteAccount } from '../../src/product/users/admin/delete.ts';
import { testAgent } from '../support/agent.ts';
import { countStatements, countStatementsInTransactions, recordDeadlocks } from '../support/database.ts';
import { buildCaller } from '../support/engine.ts';
import { passTime } from '../support/leases.ts';
import { signUpAda } from '../support/people.ts';
import { insertQueuedRuns, insertTasks, insertUsage, readUsage } from '../support/task-rows.ts';

const { app, ctx, ai, alice, ask, clock, readRecords, readCallsUnderWay, logged } = await testAgent(t);

const USAGE = { model: 'test-model', inputTokens: 30, outputTokens: 4, estimated: false, costUsd: 0.01 };
const GIVEN = { model: 'test-model', inputTokens: 25, maxTokens: 1024 };
const begin = () => startCall(ctx, alice(), GIVEN);
const speak = () =>
  processMessage(ctx, buildCaller(alice().id), { message: 'Hello.' }, { signal: new AbortController().signal });

/** Runs `call` concurrently; returns how many passed and the distinct quota errors. */
async function race(count: number, call: () => Promise<unknown>) {
  const refusals = await Promise.all(
    Array.from({ length: count }, async () => {
      try {
        await call();
        return null;
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'over_quota') throw error;
        return error.details;
      }
    }),
  );
  const refused = refusals.filter((details) => details !== null);
  return { passed: count - refused.length, refused: [...new Set(refused.map((details) => JSON.stringify(details)))] };
}

for (const round of [1, 2, 3]) {
  t.test(`One of 200 concurrent calls is made when one is left in the daily quota (${round})`, async (t) => {
    const deadlocks = recordDeadlocks(ctx);
    await insertUsage(ctx, alice().id, { executions: 49 });
    const { passed, refused } = await race(200, speak);
    t.equal(passed, 1);
    const resetAt = '2026-11-21T00:00:00.000Z';
    t.strictSame(refused, [JSON.stringify({ resource: 'executions', used: 50, limit: 50, resetAt })]);
    t.equal(ai.requests.length, 1);
    t.match(await readUsage(ctx, alice().id), { executions: 50, tokensReserved: 0 });
    t.same(deadlocks, []);
  });

  t.test(`Two of 200 concurrent calls are made when tokens for two are left (${round})`, async (t) => {
    await ctx.db.update(users).set({ plan: 'pro' });
    await insertUsage(ctx, alice().id, { tokens: 1_000_000 - 1025 });
    const { passed, refused } = await race(200, begin);
    t.equal(passed, 2);
    // 2048 are reserved of 1025: the last call may overshoot.
    const used = 1_000_000 - 1025 + 2048;
    t.strictSame(refused, [JSON.stringify({ resource: 'tokens', used, limit: 1_000_000, resetAt: null })]);
    t.match(await readUsage(ctx, alice().id), { executions: 2, tokensReserved: 2048 });
    const calls = await readCallsUnderWay();
    await Promise.all(calls.map((call) => completeCall(ctx, call, USAGE)));
    t.equal((await race(1, begin)).passed, 1, 'unused reservations are released');
  });
}

t.test('Executions and agent calls share and reserve the same tokens', async (t) => {
  await insertUsage(ctx, alice().id, { tokens: 99_999 });
  await insertQueuedRuns(ctx, await insertTasks(ctx, [alice().id], { nextExecutionAt: null }));
  const call = await begin();
  t.match(await pipeline.claim(ctx, { limit: 10, after: 0 }), { started: [], refused: 0 });
  await completeCall(ctx, call, { ...USAGE, inputTokens: 0, outputTokens: 0 });
  t.equal((await pipeline.claim(ctx, { limit: 10, after: 0 })).started.length, 1);
  t.match(await race(1, begin), { passed: 0 });
});

t.test('A call counts on the day it started', async (t) => {
  clock.set('2026-11-30T23:59:59.000Z');
  const call = await begin();
  t.match(await readCallsUnderWay(), [
    {
      ...call,
      day: '2026-11-30',
      inputTokens: 25,
      tokensReserved: 1024,
    },
  ]);
  clock.set('2026-12-01T00:00:01.000Z');
  await completeCall(ctx, call, USAGE);
  t.same(await readUsage(ctx, alice().id, '2026-11'), { executions: 1, tokens: 34, tokensReserved: 0 });
  t.same(await readUsage(ctx, alice().id, '2026-12'), { executions: 0, tokens: 0, tokensReserved: 0 });
  t.match(await readRecords(), [{ day: '2026-11-30', createdAt: ctx.now() }]);
});

t.test('A call of a dead process is recorded as an estimate when its lease has expired, and not before', async (t) => {
  const call = await begin();
  const later = await begin();
  await passTime({ ctx, clock }, ctx.config.ai.timeoutMs + 55_000);
  t.equal(await rescueAgentCalls(ctx), 0);
  await ctx.db
    .update(agentCalls)
    .set({ leaseUntil: new Date(8e12) })
    .where(eq(agentCalls.id, later.id));
  await passTime({ ctx, clock }, 5000);
  t.equal(await rescueAgentCalls(ctx), 1);
  t.match(await readRecords(), [
    {
      source: 'agent',
      executions: 1,
      model: 'test-model',
      inputTokens: 25,
      outputTokens: 0,
      estimated: true,
      costUsd: 0,
    },
  ]);
  t.same(await readUsage(ctx, alice().id), { executions: 2, tokens: 25, tokensReserved: 1024 });
  await completeCall(ctx, call, USAGE);
  t.equal((await readRecords()).length, 1, 'the rescued process records nothing');
  await completeCall(ctx, later, USAGE);
  await completeCall(ctx, later, USAGE);
  t.equal((await readRecords()).length, 2);
});

t.test('Calls of dead processes are rescued in batches, each by one process', async (t) => {
  await Promise.all(Array.from({ length: 40 }, begin));
  await passTime({ ctx, clock }, 86_400_000);
  const taken = await Promise.all(Array.from({ length: 5 }, () => rescueAgentCalls(ctx)));
  t.equal(
    taken.reduce((sum, one) => sum + one),
    40,
  );
  t.equal((await readRecords()).length, 40);
  t.same(await readUsage(ctx, alice().id, '2026-11-20'), { executions: 40, tokens: 1000, tokensReserved: 0 });
});

t.test('A call that ends while it is rescued is recorded once', async (t) => {
  const calls = await Promise.all(Array.from({ length: 20 }, begin));
  await passTime({ ctx, clock }, 86_400_000);
  await Promise.all([
    ...calls.map((call) => completeCall(ctx, call, USAGE)),
    rescueAgentCalls(ctx),
    rescueAgentCalls(ctx),
  ]);
  await rescueAgentCalls(ctx);
  t.equal((await readRecords()).length, 20);
});

t.test('The worker rescues calls of dead processes', async (t) => {
  await begin();
  await passTime({ ctx, clock }, 86_400_000);
  const worker = createWorker(ctx, { graceMs: 0 });
  t.teardown(() => worker.stop());
  worker.start();
  while ((await readCallsUnderWay()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal((await readRecords()).length, 1);
});

t.test('A call whose account is deleted or deactivated meanwhile leaves nothing behind', async (t) => {
  const ada = await signUpAda(app);
  for (const when of ['before', 'during'] as const) {
    if (when === 'during') {
      ai.answer(async () => {
        await deleteAccount(ctx, buildCaller(ada.id), alice().id);
        return {};
      });
      t.equal((await ask()).statusCode, 200, 'the answer was paid for');
    } else {
      await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
      await t.rejects(begin(), { message: 'This account has been deleted.' });
      await ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice().id));
    }
  }
  t.same([await readCallsUnderWay(), await ctx.db.select().from(usageRecords)], [[], []]);
  await t.rejects(begin(), { message: 'This account has been deleted.' });
});

t.test('Calls end while their account is deleted, without deadlocks', async (t) => {
  const ada = await signUpAda(app);
  const calls = await Promise.all(Array.from({ length: 10 }, begin));
  await Promise.all([
    ...calls.map((call) => completeCall(ctx, call, USAGE)),
    deleteAccount(ctx, buildCaller(ada.id), alice().id),
  ]);
  t.same([await readCallsUnderWay(), await ctx.db.select().from(usageRecords)], [[], []]);
});

t.test('Usage alerts count agent calls', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 39 });
  await ctx.db
    .insert(usageAlerts)
    .values({ userId: alice().id, threshold: 8, notifyEmail: false, notifyWebhook: false, createdAt: ctx.now() });
  await speak();
  t.match(await ctx.db.select().from(notifications), [
    { kind: 'usage.alert', message: /^40 of this month's 500 runs/ },
  ]);
});

t.test('An answer waits briefly for an unavailable database, and is sent either way', async (t) => {
  const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  const bug = Object.assign(new Error('no such column'), { code: '42703' });
  for (const [failure, times, recorded] of [
    [lost, 2, 1],
    [bug, 1, 0],
    [lost, Number.POSITIVE_INFINITY, 0],
  ] as const) {
    await ctx.db.delete(usageRecords);
    let left: number = times;
    const db = new Proxy(ctx.db, {
      get(target, name, self) {
        if (name !== 'transaction' || left-- <= 0) return Reflect.get(target, name, self);
        return () => Promise.reject(failure);
      },
    });
    const call = await begin();
    await completeCall({ ...ctx, db } as Context, call, USAGE);
    t.equal((await readRecords()).length, recorded);
    t.equal(
      logged.some(({ msg }) => msg === 'recording an agent call failed: taken over when its lease expires'),
      recorded === 0,
    );
    logged.length = 0;
    await completeCall(ctx, call, USAGE);
    await ctx.db.execute('delete from usage_counters');
    await ctx.db.delete(usageRecords);
  }
});

t.test('Completing an unknown call does nothing', async (t) => {
  const call: AgentCall = { ...GIVEN, id: randomUUID(), userId: alice().id, day: '2026-11-20', tokensReserved: 1024 };
  await completeCall(ctx, call, USAGE);
  t.same(await readRecords(), []);
});

t.test('While no call has expired, a process sends one statement to find that out', async (t) => {
  const counts = [countStatements(ctx.db), countStatementsInTransactions(ctx.db)];
  t.equal(await rescueAgentCalls(ctx), 0);
  t.strictSame(
    counts.map((count) => count()),
    [1, 0],
  );
});
