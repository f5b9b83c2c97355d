import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { tick } from '../../../src/product/system/tick.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START, testContext } from '../../support/context.ts';
import { signUpAlice } from '../../support/people.ts';

const TASKS = 20_000;
const EXECUTIONS = 20_000;
/** PostgreSQL considers a generic plan, which does not know the values, from the sixth execution on. */
const TICKS = 12;

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const later = sql`timestamptz '${sql.raw(START.toISOString())}' + make_interval(days => 30)`;

await ctx.db.execute(sql`
  insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, overdue_at, recurrence, timezone, ai_model, max_tokens,
    temperature, created_at, updated_at)
  select ${alice.id}, 'Task ' || n, 'Say something nice.', ${later}, ${later}, ${later}, 'daily', 'UTC',
    'openai/gpt-5-mini', 256, 70, now(), now()
  from generate_series(1, ${TASKS}::int) n`);
await ctx.db.execute(sql`
  insert into executions (task_id, user_id, status, trigger, run_at, completed_at, created_at)
  select (select min(id) from tasks), ${alice.id}, 'completed', 'manual', now(), now(), now()
  from generate_series(1, ${EXECUTIONS}::int)`);
await ctx.db.execute(sql`vacuum analyze`);

/** The rows that this transaction has read of each table. */
async function countRead(db: Db): Promise<Record<string, number>> {
  const tables = await queryRows<{ name: string; read: number }>(
    db,
    sql`select relname as name, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables`,
  );
  return Object.fromEntries(tables.map(({ name, read }) => [name, read]));
}

for (const mode of ['auto', 'force_generic_plan']) {
  t.test(`Ticks read what is due, not all tasks and executions, with plan_cache_mode ${mode}`, async (t) => {
    const read = await inTransaction(ctx, async (tx) => {
      const { db } = tx;
      await db.execute(sql.raw(`set local plan_cache_mode = ${mode}`));
      const before = await countRead(db);
      for (let n = 0; n < TICKS; n++) await tick(tx, { wait: false });
      const after = await countRead(db);
      return (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    });
    for (const name of ['tasks', 'executions']) t.ok(read(name) < 1000, `${read(name)} rows of ${name}`);
  });
}
