import { HISTORY } from '@carillon/api/product/retention/partitions/execution-partitions';
import { connect } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { listPartitions, splitLast } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import postgres from 'postgres';

const TASKS_EACH = 100;
const BATCH_SIZE = 200_000;
const MANY_EXECUTIONS = 10_000;
const PARTITIONS = 12;
/** A prime that does not divide the number of users. */
const SCATTER = 7919;

/** Inserts tasks that are due in the far future, all for `ownerId` or 100 for each of as many new users as needed. */
export async function fillTasks(databaseUrl: string, count: number, ownerId: number | null = null): Promise<void> {
  await insertInBatches(databaseUrl, 'tasks', count, async (sql, first, last) => {
    const users = (n: number) => (ownerId === null ? Math.ceil(n / TASKS_EACH) : 0);
    await sql`
      insert into users (identity_user_id, email, name, plan)
      select 'local:fill-' || n, 'fill-' || n || '@example.com', 'Person ' || n, 'pro'
      from generate_series(${users(first) + 1}::int, ${users(last)}::int) n`;
    await sql`
      with made as (
        insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, recurrence, timezone, ai_model,
          max_tokens, temperature, created_at, updated_at)
        select coalesce(${ownerId}::int, (select min(id) from users) + (n - 1) / ${TASKS_EACH}::int), 'Task ' || n,
          repeat('Say something nice. ', 8), at, at, 'daily', 'UTC', 'openai/gpt-5-mini', 256, 70, now(), now()
        from (
          select n, '2090-01-01T00:00:00Z'::timestamptz + n * interval '31 seconds' as at
          from generate_series(${first + 1}::int, ${last}::int) n) g
        returning user_id
      )
      update users set task_count = task_count + made.tasks
      from (select user_id, count(*) as tasks from made group by user_id) made where id = made.user_id`;
  });
}

/** Inserts completed executions of the last months over all tasks, with a partition for each of 12 equal parts if they are many. */
export async function fillExecutions(databaseUrl: string, count: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  await keepPartitions(stack, databaseUrl);
  if (count > MANY_EXECUTIONS) await makePartitions(databaseUrl, Math.ceil(count / PARTITIONS));
  await insertInBatches(databaseUrl, 'old executions', count, async (sql, first, last) => {
    await sql`
      insert into executions (task_id, user_id, status, trigger, run_at, queued_at, started_at, completed_at, result,
        model, input_tokens, output_tokens, cost_usd, processing_time_ms, usage_day, created_at, archived)
      select t.id, t.user_id, 'completed', 'manual', g.at, g.at, g.at, g.at, repeat('An answer. ', 10), 'gpt-5-mini', 40, 50,
        0.0001, 900, g.at::date, g.at, true
      from (
        select n, now() - (${count}::int - n) * interval '1 second' as at
        from generate_series(${first + 1}::int, ${last}::int) n) g
      join tasks t on t.id = (select min(id) from tasks) + g.n % (select count(*) from tasks)`;
  });
}

/** Until `stack` closes: Carillon would begin a partition in the middle, because the executions are of earlier months. */
async function keepPartitions(stack: AsyncDisposableStack, databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  stack.defer(() => sql.end({ timeout: 5 }));
  await sql`select pg_advisory_lock(${ADVISORY_LOCKS.changePartitions})`;
}

async function makePartitions(databaseUrl: string, ids: number) {
  const { db, close } = connect(databaseUrl);
  const first = Number((await listPartitions(db, HISTORY)).at(-1)?.from);
  await db.execute(sql`select setval('executions_id_seq', ${first}, false)`);
  for (let made = 0; made < PARTITIONS; made++) {
    const from = Number((await listPartitions(db, HISTORY)).at(-1)?.from);
    await db.transaction((tx) =>
      splitLast(tx, HISTORY, { name: `executions_from_${from}`, until: String(from + ids) }),
    );
  }
  await close();
}

/**
 * Inserts users with `each` daily tasks, due between two and three days from now. The first task of a user is named
 * `First <n>` and its prompt ends with `No. <n>`, where n counts from 0 to `users` in an order that is not that of the table.
 */
export async function fillUsersWithTasks(
  databaseUrl: string,
  { users, each }: { users: number; each: number },
): Promise<void> {
  await insertInBatches(databaseUrl, 'users with tasks', users, async (sql, first, last) => {
    await sql`
      insert into users (identity_user_id, email, name, plan, task_count)
      select 'local:fill-' || n, 'fill-' || n || '@example.com', 'Person ' || n, 'pro', ${each}::int
      from generate_series(${first + 1}::int, ${last}::int) n`;
    await sql`
      insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, recurrence, timezone, ai_model,
        max_tokens, temperature, created_at, updated_at)
      select (select min(id) from users) + n - 1, case when k = 1 then 'First ' || place else 'Task ' || k end,
        repeat('Say something nice. ', 8) || 'No. ' || place, at, at, 'daily', 'UTC', 'openai/gpt-5-mini', 256, 70, now(), now()
      from generate_series(${first + 1}::int, ${last}::int) n
      cross join generate_series(1, ${each}::int) k
      cross join lateral (select (n * ${SCATTER}::bigint) % ${users}::int as place) p
      cross join lateral (
        select now() + interval '2 days' + (place * ${each}::int + k) * interval '1 day' / (${users}::int * ${each}::int) as at
      ) a
      order by n, k`;
  });
}

type Write = (sql: postgres.Sql, first: number, last: number) => Promise<unknown>;

async function insertInBatches(databaseUrl: string, rows: string, count: number, write: Write): Promise<void> {
  if (count === 0) return;
  // As a replica PostgreSQL skips foreign keys and triggers, which would take most of the time.
  const sql = postgres(databaseUrl, { max: 1, connection: { session_replication_role: 'replica' } });
  try {
    for (let first = 0; first < count; first += BATCH_SIZE) {
      const last = Math.min(count, first + BATCH_SIZE);
      await write(sql, first, last);
      if (last % 1_000_000 === 0) console.log(`  ${last.toLocaleString('en-US')} ${rows} are inserted.`);
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
}
