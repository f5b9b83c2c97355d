import { rateHits, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { insertUsage } from '../support/task-rows.ts';
import { setStorageUsed } from '../support/uploads.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const MIB = 1_048_576;

async function read({ headers }: Person) {
  const answer = await app.inject({ url: '/api/usage', headers });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  const { success, usage } = answer.json();
  if (success !== true) throw new Error('no success');
  return usage;
}

const hit = ({ id: userId }: Person, endpoint: string, hits: number, lastHit: Date, day = '2026-11-20') =>
  ctx.db.insert(rateHits).values({ userId, day, endpoint, hits, lastHit });

t.test('A user without usage sees the quotas of the trial', async (t) => {
  t.same(await read(await signUp(app)), {
    period: '2026-11',
    executions: { used: 0, limit: 500, remaining: 500, percentage: 0 },
    tokens: { used: 0, limit: 1_000_000, remaining: 1_000_000, percentage: 0 },
    daily: {
      executions: { used: 0, limit: 50, remaining: 50, percentage: 0 },
      tokens: { used: 0, limit: 100_000, remaining: 100_000, percentage: 0 },
    },
    storage: { usedBytes: 0, limitBytes: 100 * MIB, usedMB: 0, limitMB: 100, percentage: 0 },
    rateLimits: { hitToday: 0, endpoints: [] },
    keys: [],
    tools: { uses: 0, costUsd: 0 },
    saved: { runs: 0, estimatedCostUsd: 0 },
  });
});

t.test('Month, day, storage and rejected requests are only the caller’s', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await insertUsage(ctx, alice.id, { executions: 7, tokens: 12_345, toolUses: 3, toolCostUsd: 0.03 });
  await insertUsage(ctx, alice.id, {
    executions: 100,
    tokens: 400_000,
    toolUses: 4,
    toolCostUsd: 0.04,
    day: '2026-11-03',
  });
  await insertUsage(ctx, alice.id, { executions: 9, tokens: 9, toolUses: 9, day: '2026-10-31' });
  await setStorageUsed(ctx, alice, 1_250_001);
  await setStorageUsed(ctx, bob, 7);
  await hit(alice, 'GET /api/tasks', 3, new Date('2026-11-20T08:00:00.000Z'));
  await hit(alice, 'POST /api/tasks/:id/execute', 12, new Date('2026-11-20T09:30:00.123Z'));
  await hit(alice, 'GET /api/tasks', 50, new Date('2026-11-19T08:00:00.000Z'), '2026-11-19');
  await insertUsage(ctx, bob.id, { executions: 1, tokens: 1, toolUses: 1 });
  await hit(bob, 'GET /api/tasks', 1, START);
  t.same(await read(alice), {
    period: '2026-11',
    executions: { used: 107, limit: 500, remaining: 393, percentage: 21.4 },
    tokens: { used: 412_345, limit: 1_000_000, remaining: 587_655, percentage: 41.23 },
    daily: {
      executions: { used: 7, limit: 50, remaining: 43, percentage: 14 },
      tokens: { used: 12_345, limit: 100_000, remaining: 87_655, percentage: 12.35 },
    },
    storage: { usedBytes: 1_250_001, limitBytes: 100 * MIB, usedMB: 1.19, limitMB: 100, percentage: 1.19 },
    rateLimits: {
      hitToday: 15,
      endpoints: [
        { endpoint: 'POST /api/tasks/:id/execute', hits: 12, lastHit: '2026-11-20T09:30:00.123Z' },
        { endpoint: 'GET /api/tasks', hits: 3, lastHit: '2026-11-20T08:00:00.000Z' },
      ],
    },
    keys: [],
    tools: { uses: 7, costUsd: 0.07 },
    saved: { runs: 0, estimatedCostUsd: 0 },
  });
});

t.test('A limit that one call has exceeded is 100 % used, with nothing left', async (t) => {
  const alice = await signUp(app);
  await insertUsage(ctx, alice.id, { tokens: 1_000_777 });
  t.match(await read(alice), {
    tokens: { used: 1_000_777, remaining: 0, percentage: 100 },
    daily: { tokens: { used: 1_000_777, limit: 100_000, remaining: 0, percentage: 100 } },
  });
});

t.test('The limits are those of the plan, of admins, and of a smaller system setting', async (t) => {
  const alice = await signUp(app);
  const limitsOf = async () => {
    const { executions, tokens, daily, storage } = await read(alice);
    return [executions.limit, daily.executions.limit, tokens.limit, daily.tokens.limit, storage.limitMB];
  };
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
  t.same(await limitsOf(), [10_000, 500, 20_000_000, 1_000_000, 10_240]);
  await ctx.db.update(users).set({ plan: 'trial', role: 'ADMIN' }).where(eq(users.id, alice.id));
  t.same(await limitsOf(), [10_000, 500, 20_000_000, 1_000_000, 10_240]);
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 20 });
  t.same(await limitsOf(), [10_000, 20, 20_000_000, 1_000_000, 10_240]);
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 500 });
});

t.test('A new month and a new day begin at midnight in UTC', async (t) => {
  clock.set('2026-11-30T23:59:59.999Z');
  const alice = await signUp(app);
  await insertUsage(ctx, alice.id, { executions: 5, tokens: 50 });
  await hit(alice, 'GET /api/tasks', 2, ctx.now(), '2026-11-30');
  t.match(await read(alice), { period: '2026-11', executions: { used: 5 }, rateLimits: { hitToday: 2 } });
  clock.set('2026-12-01T00:00:00.000Z');
  t.match(await read(alice), {
    period: '2026-12',
    executions: { used: 0 },
    tokens: { used: 0 },
    daily: { executions: { used: 0 } },
    rateLimits: { hitToday: 0 },
  });
});

t.test('Reading usage needs a session', (t) => assertNeedsSession(t, app, { url: '/api/usage' }));
