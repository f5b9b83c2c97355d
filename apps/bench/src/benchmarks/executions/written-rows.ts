import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

/** All contestants must have written the same rows and counters for `count` executions. Throws otherwise. */
export async function assertWritten(db: Db, since: Date, count: number): Promise<void> {
  const at = sql`${since.toISOString()}::timestamptz`;
  const [row] = await queryRows<Record<string, number>>(
    db,
    sql`
    select (select count(*) from executions where created_at >= ${at} and status = 'completed' and result <> '')::int as executions,
      (select count(*) from usage_records where created_at >= ${at} and input_tokens > 0)::int as "usage records",
      (select count(*) from occurrences where recorded_at >= ${at})::int as occurrences,
      (select count(*) from tasks where last_execution_at >= ${at} and last_duration_ms is not null
        and next_execution_at > ${at} + interval '1 hour')::int as tasks,
      (select sum(least(executions, completed) - tokens_reserved) - (select count(*) from executions) + ${count}::int
        from usage_counters where length(period) = 10)::int as "counted executions"`,
  );
  for (const [what, written] of Object.entries(row ?? {})) {
    if (written !== count) throw new Error(`There are ${written} ${what} of ${count}.`);
  }
}
