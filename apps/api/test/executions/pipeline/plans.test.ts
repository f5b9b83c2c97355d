import { randomUUID } from 'node:crypto';
import { connect, mails, queryRows, users } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { queueMails } from '../../../src/lib/mail/queue.ts';
import type { Attempt } from '../../../src/product/deliveries/queue/attempt.ts';
import { claimDeliveries, FIRST_WEBHOOK } from '../../../src/product/deliveries/queue/claim.ts';
import { storeAttempts } from '../../../src/product/deliveries/queue/complete.ts';
import {
  enqueueDueRetries,
  handBackDeliveries,
  renewDeliveries,
  rescueDeliveries,
} from '../../../src/product/deliveries/queue/leases.ts';
import {
  handBackExecutions,
  isAnyQueued,
  readQueue,
  renewExecutions,
  rescueExecutions,
} from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { tick } from '../../../src/product/system/tick.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START, testContext } from '../../support/context.ts';
import { buildResult } from '../../support/executions.ts';
import { deliverDueMails } from '../../support/mails.ts';

/** PostgreSQL considers a plan for all values from the sixth execution on, and then keeps it. */
const EXECUTIONS = 8;
const BATCH = 200;
const LIVE_TABLES = [
  'executions_live',
  'tasks',
  'usage_counters',
  'event_positions',
  'deliveries',
  'endpoints',
  'mails',
];

const { ctx: shared, databaseUrl } = await testContext(t);
// One connection, so that each statement is prepared once.
const { db, close } = connect(databaseUrl, { max: 1, deadlineMs: 30_000 });
t.teardown(close);
const ctx = { ...shared, db };
const analyze = () => shared.db.execute(sql`vacuum analyze`);

/** Due tasks of several users, with a webhook and a mail each. */
async function fill(count: number, each: number) {
  await shared.db.execute(sql`
    with people as (
      insert into users (identity_user_id, email, name, plan)
      select 'local:' || k, k || '@example.com', 'Someone', 'pro'
      from generate_series(1, ${count / each}::int) n cross join lateral (select gen_random_uuid() || '-' || n) u(k)
      returning id
    ), hooks as (
      insert into endpoints (id, user_id, url, events, secret_encrypted, secret_lookup, created_at, updated_at)
      select gen_random_uuid(), id, 'https://example.com/' || id, '{execution.completed}', '', id::text, now(), now()
      from people
    )
    insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, recurrence, timezone, ai_model, max_tokens,
      temperature, created_at, updated_at)
    select id, 'Task ' || n, 'Say something nice.', at, at, 'daily', 'UTC', 'openai/gpt-5-mini', 256, 70, at, at
    from people cross join generate_series(1, ${each}::int) n
    cross join (values (${START.toISOString()}::timestamptz)) f(at)`);
  await queueMails(
    shared,
    Array.from({ length: Math.ceil(count / 50) }, (_, n) => ({ to: `n${n}@example.com`, subject: 'A', text: 'B' })),
  );
}

/** Everything that reads or writes the queues, once. */
async function useQueues() {
  await tick(ctx, { wait: false });
  const { started } = await pipeline.claim(ctx, { limit: BATCH, after: 0 });
  await readQueue(ctx, started);
  await isAnyQueued(ctx);
  await renewExecutions(ctx, started);
  await rescueExecutions(ctx);
  await handBackExecutions(ctx, started.slice(0, 3));
  const results = started.slice(3).map((execution) => buildResult(execution));
  await pipeline.complete(ctx, results, new AbortController().signal);
  const next = await pipeline.claim(ctx, { limit: BATCH, after: 0 });
  await handBackExecutions(ctx, next.started);
  await enqueueDueRetries(ctx);
  const { claimed } = await claimDeliveries(ctx, { limit: BATCH, after: FIRST_WEBHOOK });
  await renewDeliveries(ctx, claimed);
  await rescueDeliveries(ctx);
  await handBackDeliveries(ctx, claimed.slice(0, 3));
  const attempts = claimed.slice(3).map(
    (delivery): Attempt => ({
      ...delivery,
      id: randomUUID(),
      deliveryId: delivery.id,
      at: ctx.now(),
      responseTimeMs: 1,
      success: true,
      statusCode: 200,
      error: null,
      retryAfterMs: null,
      isGone: false,
    }),
  );
  await storeAttempts(ctx, attempts, new AbortController().signal);
  await deliverDueMails(ctx);
  return started.length;
}

async function countSequentialReads(): Promise<Record<string, number>> {
  await db.execute(sql`select pg_stat_force_next_flush()`);
  const tables = await queryRows<{ name: string; read: number }>(
    shared.db,
    sql`select relname as name, seq_tup_read::int as read from pg_stat_user_tables where relname = any(${`{${LIVE_TABLES.join(',')}}`}::text[])`,
  );
  return Object.fromEntries(tables.map(({ name, read }) => [name, read]));
}

t.test('Statements that were prepared on empty queues read full ones by their indexes', async (t) => {
  await analyze();
  for (let n = 0; n < EXECUTIONS; n++) {
    await fill(10, 5);
    t.ok((await useQueues()) > 0);
    await shared.db.delete(users);
    await shared.db.delete(mails);
    await analyze();
  }
  await fill(10_000, 20);
  const before = await countSequentialReads();
  t.equal(await useQueues(), BATCH);
  const after = await countSequentialReads();
  // Connections report what they read of the few rows before up to a second later; a sequential read has at least 200.
  for (const name of LIVE_TABLES) t.ok((after[name] ?? 0) - (before[name] ?? 0) < 100, name);
});

t.test('Claims and ticks plan for no partition of the history, however many there are', async (t) => {
  await fill(10, 5);
  const listLocked = (work: (tx: Context) => Promise<unknown>) =>
    inTransaction(ctx, async (tx) => {
      await work(tx);
      const locked = await queryRows<{ name: string }>(
        tx.db,
        sql`
        select relname as name from pg_locks l join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relname like 'executions\\_from\\_%'`,
      );
      return locked.map(({ name }) => name);
    });
  t.strictSame(await listLocked((tx) => pipeline.enqueue(tx)), []);
  t.strictSame(await listLocked((tx) => pipeline.claim(tx, { limit: BATCH, after: 0 })), []);
});
