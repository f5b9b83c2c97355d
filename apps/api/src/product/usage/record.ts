import { type Db, queryRows, recordset } from '@carillon/db';
import { listMonths } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';
import { checkCounterAlerts } from './alerts.ts';

/** A change of a user's counters, for the UTC day `day` and its month. */
export interface UsageDelta {
  userId: number;
  day: string;
  executions?: number;
  tokens?: number;
  tokensReserved?: number;
  costUsd?: number;
  /** Executions that ended with this status; negative when they are deleted with their task. */
  completed?: number;
  failed?: number;
  /** Those of the failed ones that the user has stopped. */
  stopped?: number;
  /** Planned runs whose sources were unchanged, and what they would have cost. */
  savedRuns?: number;
  savedUsd?: number;
}

const COUNTERS = [
  'executions',
  'tokens',
  'tokensReserved',
  'costUsd',
  'completed',
  'failed',
  'stopped',
  'savedRuns',
  'savedUsd',
] as const;
type Sums = Record<(typeof COUNTERS)[number], number>;
const ZERO: Sums = {
  executions: 0,
  tokens: 0,
  tokensReserved: 0,
  costUsd: 0,
  completed: 0,
  failed: 0,
  stopped: 0,
  savedRuns: 0,
  savedUsd: 0,
};

/** Adds to the counters of days and months, locked in a fixed order, and fires the alerts that are reached by that. */
export async function recordUsage(ctx: Context, deltas: readonly UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return;
  const sums = new Map<string, Sums & { userId: number; period: string }>();
  for (const delta of deltas) {
    const { userId, day } = delta;
    for (const period of [day, toUtcMonth(day)]) {
      const key = `${userId} ${period}`;
      const sum = sums.get(key) ?? { userId, period, ...ZERO };
      for (const counter of COUNTERS) sum[counter] += delta[counter] ?? 0;
      sums.set(key, sum);
    }
  }
  const updated = await queryRows<{ userId: number; period: string; hasAlert: boolean | null }>(
    ctx.db,
    sql`
    with d as (
      select * from ${recordset('d', [...sums.values()], {
        userId: 'int',
        period: 'text',
        executions: 'int',
        tokens: 'bigint',
        tokensReserved: 'bigint',
        costUsd: 'float8',
        completed: 'int',
        failed: 'int',
        stopped: 'int',
        savedRuns: 'int',
        savedUsd: 'float8',
      })}
    ), locked as (
      select c.user_id, c.period from usage_counters c join d using (user_id, period)
      order by c.user_id, c.period for update of c
    )
    update usage_counters c set executions = c.executions + d.executions, tokens = c.tokens + d.tokens,
      tokens_reserved = c.tokens_reserved + d.tokens_reserved, cost_usd = c.cost_usd + d.cost_usd, completed = c.completed + d.completed,
      failed = c.failed + d.failed, stopped = c.stopped + d.stopped, saved_runs = c.saved_runs + d.saved_runs, saved_usd = c.saved_usd + d.saved_usd
    from locked join d using (user_id, period)
    where c.user_id = locked.user_id and c.period = locked.period
    returning c.user_id, c.period,
      (select true from usage_alerts a where a.user_id = c.user_id limit 1) as has_alert`,
  );
  // A counter that decreases, or reservations alone, reach no threshold.
  const increased = updated.filter(({ userId, period, hasAlert }) => {
    const sum = sums.get(`${userId} ${period}`);
    return hasAlert && isMonth(period) && sum && (sum.executions > 0 || sum.tokens > 0);
  });
  if (increased.length > 0) await checkCounterAlerts(ctx, increased);
}

const isMonth = (period: string) => period.length === '2026-11'.length;

/** The first UTC month (`2026-11`) whose records in the usage ledger exist; null if none were deleted. */
export async function findFirstLedgerMonth(db: Db): Promise<string | null> {
  const [first] = await listMonths(db, { name: 'usage_records' });
  return first?.from ? toUtcMonth(toUtcDay(new Date(first.from))) : null;
}
