import { type Db, queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import { findFirstLedgerMonth } from './record.ts';

interface Usage {
  executions: number;
  tokens: number;
  tokensReserved: number;
}

interface WrongCounter {
  userId: number;
  /** A UTC day or month. */
  period: string;
  counted: Usage;
  /** The sum over the ledger and the live executions. */
  expected: Usage;
}

/**
 * Sums up the usage of every user from `usage_records` and the pending and running executions, and returns the counters
 * that differ, of the months whose ledger exists. One statement, so one snapshot: the service can work meanwhile.
 */
export async function findWrongCounters(db: Db): Promise<WrongCounter[]> {
  const first = (await findFirstLedgerMonth(db)) ?? '';
  const wrong = await queryRows<WrongCounter>(
    db,
    sql`
    with used as (
      select user_id, day, executions, input_tokens::bigint + output_tokens as tokens, 0 as reserved from usage_records
      union all
      select user_id, usage_day, 1, 0, tokens_reserved from executions_live
      where status in ('pending', 'running') and usage_day is not null
      union all
      select user_id, day, 1, 0, tokens_reserved from agent_calls
    ), by_day as (
      select user_id, day, sum(executions) as executions, sum(tokens) as tokens, sum(reserved) as reserved
      from used group by user_id, day
    ), expected as (
      select user_id, p.period, sum(executions) as executions, sum(tokens) as tokens, sum(reserved) as reserved
      from by_day cross join lateral (values (to_char(day, 'YYYY-MM-DD')), (to_char(day, 'YYYY-MM'))) p(period)
      group by user_id, p.period
    ), compared as (
      select user_id, period,
        ${toUsage(sql`c.executions`, sql`c.tokens`, sql`c.tokens_reserved`)} as counted,
        ${toUsage(sql`e.executions`, sql`e.tokens`, sql`e.reserved`)} as expected
      from usage_counters c full join expected e using (user_id, period)
      where period >= ${first}
    )
    select user_id, period, counted, expected from compared where counted <> expected
    order by user_id, period`,
  );
  return [...wrong];
}

const toUsage = (executions: SQL, tokens: SQL, reserved: SQL) => sql`jsonb_build_object('executions',
  coalesce(${executions}, 0), 'tokens', coalesce(${tokens}, 0), 'tokensReserved', coalesce(${reserved}, 0))`;
