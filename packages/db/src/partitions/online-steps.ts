import type postgres from 'postgres';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import { findNewestApplied, readJournal } from '../journal.ts';
import { setLocally } from '../set-locally.ts';

/** The role may have others, for the statements of requests. */
export const NO_TIMEOUTS = { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' };

const EXECUTIONS_STEPS = [
  `do $$
  begin
    alter table executions add column if not exists archived boolean;
    if not exists (select from pg_constraint where conname = 'executions_not_archived') then
      alter table executions add constraint executions_not_archived check (archived is null) not valid;
    end if;
  end $$`,
  'alter table executions validate constraint executions_not_archived',
];

/** Bounds a column by the end of the next month, or by a later one if it has rows beyond. */
const toMonthsSteps = (table: string, column: string, type: 'date' | 'timestamptz') => [
  `do $$
  declare
    next_month timestamptz := (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC';
    bound timestamptz;
  begin
    select (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1]::timestamptz into bound
    from pg_constraint where conname = '${table}_before_months';
    if bound >= next_month then
      return;
    end if;
    select greatest(next_month, (date_trunc('month', max(${column}::timestamptz) at time zone 'UTC') + interval '1 month') at time zone 'UTC')
    into bound from ${table};
    alter table ${table} drop constraint if exists ${table}_before_months;
    execute format('alter table ${table} add constraint ${table}_before_months check (${column} < %L) not valid', bound::${type});
  end $$`,
  `alter table ${table} validate constraint ${table}_before_months`,
];

/** By the migration that they prepare. They change nothing that is done already. */
const ONLINE_STEPS: Readonly<Record<string, readonly string[]>> = {
  '0028_partitions_of_executions': EXECUTIONS_STEPS,
  '0029_partitions_by_month': [
    ...toMonthsSteps('occurrences', 'planned_for', 'timestamptz'),
    ...toMonthsSteps('events', 'created_at', 'timestamptz'),
    ...toMonthsSteps('usage_records', 'day', 'date'),
    ...toMonthsSteps('audit_log', 'at', 'timestamptz'),
  ],
};

/**
 * Prepares filled tables for the migrations that are not applied yet, each step in a transaction of its own: what takes long
 * then happens before the migrations, while processes of the version before work.
 */
export async function runOnlineSteps(client: postgres.Sql): Promise<void> {
  for (const { tag, when } of readJournal().entries) {
    for (const step of ONLINE_STEPS[tag] ?? []) {
      await client.begin(async (tx) => {
        await setLocally(tx, { ...NO_TIMEOUTS, timezone: 'UTC' });
        await tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.migrate})`;
        const newest = await findNewestApplied(tx);
        if (newest === null || newest.when >= when) return;
        // The migrations before make the tables of an old schema, which are empty.
        const [table] = await tx`select to_regclass('events') is not null as exists`;
        if (table?.exists) await tx.unsafe(step);
      });
    }
  }
}
