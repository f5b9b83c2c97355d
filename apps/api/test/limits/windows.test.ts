import { setImmediate as turn } from 'node:timers/promises';
import { connect, queryRows, rateWindows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { getEffectiveLimit } from '../../src/platform/limits/rates.ts';
import { type CountedRequest, countRequest, tooManyRequests } from '../../src/platform/limits/windows.ts';
import { pruneAll } from '../../src/product/retention/prune.ts';
import { START } from '../support/context.ts';
import { getRateLimit } from '../support/rate-limits.ts';

const { db, url } = await testDatabase(t);
const others = [1, 2, 3].map(() => connect(url, { max: 10 }));
t.teardown(() => Promise.all(others.map(({ close }) => close())).then(() => {}));
t.beforeEach(async () => {
  await db.delete(rateWindows);
});

const at = (ms: number) => new Date(START.getTime() + ms);
const request = (key: string, ms = 0): CountedRequest => ({ key, windowMs: 60_000, at: at(ms) });

t.test('A window begins with its first request and lasts its length, to the millisecond', async (t) => {
  t.match(await countRequest(db, request('a')), { count: 1, endsAt: at(60_000) });
  t.match(await countRequest(db, request('a', 30_000)), { count: 2, endsAt: at(60_000) });
  t.match(await countRequest(db, request('a', 59_999)), { count: 3, endsAt: at(60_000) });
  t.match(await countRequest(db, request('a', 59_999)), { count: 4, endsAt: at(60_000) });
  t.match(await countRequest(db, request('a', 60_000)), { count: 1, endsAt: at(120_000) }, 'to the millisecond');
  t.match(await countRequest(db, request('a', 500_001)), { count: 1, endsAt: at(560_001) }, 'not on a grid');
});

t.test('Each key has a counter of its own', async (t) => {
  await countRequest(db, request('a'));
  t.equal((await countRequest(db, request('b'))).count, 1);
  t.equal((await countRequest(db, request('A'))).count, 1);
  t.equal((await countRequest(db, request('a'))).count, 2);
});

t.test('Requests at once over several pools are each counted once', async (t) => {
  const pools = [db, ...others.map((other) => other.db)];
  for (const round of [0, 60_000, 120_000]) {
    const all = await Promise.all(
      Array.from({ length: 400 }, (_, i) => countRequest(pools[i % 4] as typeof db, request('one', round))),
    );
    const counts = all.map(({ count }) => count).sort((a, b) => a - b);
    t.same(
      counts,
      Array.from({ length: 400 }, (_, i) => i + 1),
    );
    t.equal(all.filter((window) => window.count <= 3).length, 3);
    t.ok(
      all.every(({ endsAt }) => endsAt.getTime() === at(round + 60_000).getTime()),
      'in one window',
    );
  }
});

t.test('Requests of one turn are counted in their order, each in the window of its key', async (t) => {
  await countRequest(db, request('b'));
  const keys = ['b', 'a', 'b', 'c', 'b', 'a'];
  const counted = await Promise.all(keys.map((key) => countRequest(db, request(key))));
  t.same(
    counted.map(({ count }) => count),
    [2, 1, 3, 1, 4, 2],
  );
  const [short, long] = await Promise.all([
    countRequest(db, { ...request('short'), windowMs: 1000 }),
    countRequest(db, request('long')),
  ]);
  t.same([short?.endsAt, long?.endsAt], [at(1000), at(60_000)]);
});

t.test('Counting many keys while they are pruned neither stalls nor loses an open window', async (t) => {
  const pools = [db, ...others.map((other) => other.db)];
  let ms = 0;
  const stopping = new AbortController();
  const retention = {
    executionsDays: 0,
    occurrencesDays: 0,
    deliveriesDays: 0,
    eventsDays: 0,
    alertsDays: 0,
    notificationsDays: 0,
    usageDays: 0,
    auditDays: 0,
    filesDays: 0,
  };
  const worker = { stopping: stopping.signal };
  const ctx = { db: others[0]?.db, now: () => at(ms), config: { retention }, worker } as unknown as Context;
  let done = false;
  const pruning = (async () => {
    for (; !done; await turn()) await pruneAll(ctx);
  })();
  // At each round every window has ended long enough ago to be deleted: rows are deleted and counted at once.
  for (let round = 0; round < 15; round++) {
    ms = round * 121_000;
    const counted = await Promise.all(
      Array.from({ length: 200 }, (_, i) => countRequest(pools[i % 4] as typeof db, request(`key ${i % 40}`, ms))),
    );
    const counts = counted.map(({ count }) => count).sort();
    t.same(
      counts,
      [1, 2, 3, 4, 5].flatMap((count) => Array(40).fill(count)),
    );
  }
  done = true;
  await pruning;
});

t.test('Counting a key again stays on its page and touches no index', async (t) => {
  const { url } = await testDatabase(t);
  const { db, close } = connect(url, { max: 1 });
  t.teardown(close);
  for (let i = 0; i < 200; i++) await countRequest(db, request('a', i));
  await db.execute(sql`select pg_stat_force_next_flush()`);
  const [found] = await queryRows<{ updates: number; hot: number; bytes: number }>(
    db,
    sql`
    select n_tup_upd::int as updates, n_tup_hot_upd::int as hot, pg_relation_size(relid)::int as bytes
    from pg_stat_user_tables where relname = 'rate_windows'`,
  );
  // Not all of them: another reader of the table can keep old versions in place.
  t.ok(found && found.updates === 199 && found.hot >= 190 && found.bytes <= 4 * 8192, JSON.stringify(found));
});

t.test('RATE_LIMIT_MULTIPLIER scales a limit, rounded and never below 1', async (t) => {
  const row = getRateLimit('POST /api/auth/login');
  const limitAt = (rateLimitMultiplier: number) => getEffectiveLimit({ config: { rateLimitMultiplier } }, row);
  t.equal(limitAt(1), 5);
  t.equal(limitAt(1000), 5000);
  t.equal(limitAt(0.5), 3);
  t.equal(limitAt(1.5), 8);
  t.equal(limitAt(0.29), 1);
  t.equal(limitAt(0.000001), 1);
});

t.test('A 429 says when to come back, in whole seconds rounded up', async (t) => {
  const state = { limit: 3, remaining: 0, resetAt: at(60_000), isExceeded: true };
  const error = tooManyRequests(state, at(22_001));
  t.equal(error.kind, 'rate_limited');
  t.equal(error.message, 'Too many requests. Please try again in 38 seconds.');
  t.same(error.details, { limit: 3, remaining: 0, reset: at(60_000).getTime(), resetIn: 38, retryAfter: 38 });
  t.equal(tooManyRequests(state, at(59_999)).details?.retryAfter, 1);
  t.match(tooManyRequests(state, at(59_999)).message, /in 1 second\.$/);
  t.equal(tooManyRequests(state, at(60_500)).details?.retryAfter, 1, 'never 0, also where another clock is ahead');
});
