import { idempotencyKeys } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { testAgent } from '../support/agent.ts';
import { readKeys } from '../support/idempotency.ts';
import { until } from '../support/until.ts';

const { ctx, ai, alice, ask, readRecords } = await testAgent(t);
const withKey = (key: string, headers: Record<string, string> = {}) =>
  ask(undefined, { headers: { ...headers, 'idempotency-key': key } });

t.test('A repeated message is answered by one call of the model, which is paid for once', async (t) => {
  const first = await withKey('moon');
  t.equal(first.statusCode, 200, first.body);
  const again = await withKey('moon');
  t.equal(again.body, first.body);
  t.equal(again.headers['idempotent-replayed'], 'true');
  t.equal(ai.requests.length, 1);
  t.equal((await readRecords()).length, 1);
});

t.test('A stream with a key is 400, and calls no model', async (t) => {
  const streamed = await withKey('stream', { accept: 'text/event-stream' });
  t.equal(streamed.statusCode, 400);
  t.same(Object.keys(streamed.json().details), ['idempotency-key']);
  t.equal(ai.requests.length, 0);
  t.same(await readKeys(ctx, alice()), []);
  t.equal((await ask(undefined, { headers: { accept: 'text/event-stream' } })).statusCode, 200);
});

t.test('While the model answers, repetitions are 409, and no transaction is open', async (t) => {
  ai.answer(() => ({ text: 'Titan.', delayMs: 300 }));
  const first = withKey('slow');
  await until(() => ai.requests.length === 1);
  const [open] = (await ctx.db.execute(
    sql`select count(*)::int as n from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
  )) as unknown as { n: number }[];
  t.equal(open?.n, 0);
  t.equal((await withKey('slow')).statusCode, 409);
  t.equal((await first).statusCode, 200);
  t.equal((await withKey('slow')).body, (await first).body);
  t.equal(ai.requests.length, 1);
});

t.test('A lost connection to the database does not free the key of a call, its lease does', async (t) => {
  ai.answer(() => ({ text: 'Titan.', delayMs: 300 }));
  const first = withKey('lease');
  await until(() => ai.requests.length === 1);
  const [claim] = await readKeys(ctx, alice());
  t.equal(claim?.backendPid, null);
  const leaseMs = Number(claim?.leaseUntil) - Number(claim?.claimedAt);
  t.ok(leaseMs > ctx.config.ai.timeoutMs, 'longer than a call may take');
  await ctx.db.update(idempotencyKeys).set({ leaseUntil: sql`now() - interval '1 second'` });
  const second = await withKey('lease');
  t.equal(second.statusCode, 200);
  t.equal((await first).statusCode, 200, 'the answer of the first is paid for too');
  t.equal((await withKey('lease')).body, second.body);
  t.equal((await readRecords()).length, 2, 'the usage of both is recorded');
});

t.test('A failed call stores nothing: the next request with its key calls the model', async (t) => {
  ai.answer(() => ({ status: 400 }));
  t.equal((await withKey('failed')).statusCode, 503);
  t.same(await readKeys(ctx, alice()), []);
  ai.answer(() => ({ text: 'Titan.' }));
  t.equal((await withKey('failed')).statusCode, 200);
});
