import { type Db, queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

interface Figures {
  executions: number;
  tokens: number;
  tokensReserved: number;
}

/** A usage counter that is not what it should be. */
export interface WrongCounter {
  userId: number;
  /** A UTC day or month. */
  period: string;
  counted: Figures;
  /** What the ledger and the live executions add up to. */
  due: Figures;
}

/**
 * Adds up anew what every user has used, from `usage_records` and the executions that are pending or running, and
 * returns the counters that say otherwise: none, whatever has just died (decisions §9). One statement, so one snapshot:
 * it may be asked while the service works, and holds nobody up.
 */
export async function findWrongCounters(db: Db): Promise<WrongCounter[]> {
  const wrong = await queryRows<WrongCounter>(
    db,
    sql`
    with used as (
      select user_id, day, executions, input_tokens::bigint + output_tokens as tokens, 0 as reserved from usage_records
      union all
      select user_id, usage_day, 1, 0, tokens_reserved from executions
      where status in ('pending', 'running') and usage_day is not null
      union all
      select user_id, day, 1, 0, tokens_reserved from agent_calls
    ), by_day as (
      select user_id, day, sum(executions) as executions, sum(tokens) as tokens, sum(reserved) as reserved
      from used group by user_id, day
    ), due as (
      select user_id, p.period, sum(executions) as executions, sum(tokens) as tokens, sum(reserved) as reserved
      from by_day cross join lateral (values (to_char(day, 'YYYY-MM-DD')), (to_char(day, 'YYYY-MM'))) p(period)
      group by user_id, p.period
    ), compared as (
      select user_id, period,
        ${figures(sql`c.executions`, sql`c.tokens`, sql`c.tokens_reserved`)} as counted,
        ${figures(sql`due.executions`, sql`due.tokens`, sql`due.reserved`)} as due
      from usage_counters c full join due using (user_id, period)
    )
    select user_id as "userId", period, counted, due from compared where counted <> due order by user_id, period`,
  );
  return [...wrong];
}

const figures = (executions: SQL, tokens: SQL, reserved: SQL) => sql`jsonb_build_object('executions',
  coalesce(${executions}, 0), 'tokens', coalesce(${tokens}, 0), 'tokensReserved', coalesce(${reserved}, 0))`;
