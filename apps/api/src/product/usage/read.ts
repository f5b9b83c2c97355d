import type { Usage } from '@carillon/contract/accounts/usage';
import { queryRows, usageAlerts } from '@carillon/db';
import { asc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeleted } from '../../errors.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../../platform/limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';

interface Counters {
  executions: number;
  tokens: number;
  savedRuns: number;
  savedUsd: number;
}

interface UsageRow extends PlanRow {
  storedBytes: number;
  day: Counters | null;
  month: Counters | null;
  hits: { endpoint: string; hits: number; lastHit: string }[];
  keys: Usage['keys'];
  tools: Usage['tools'];
}

/** What the caller has used today and this month, in UTC, and the limits of both. */
export async function getUsage(ctx: Context, caller: Caller): Promise<Usage> {
  const day = toUtcDay(ctx.now());
  const period = toUtcMonth(day);
  const countersOf = (window: string) =>
    sql`(select jsonb_build_object('executions', executions, 'tokens', tokens, 'savedRuns', saved_runs, 'savedUsd', saved_usd)
      from usage_counters c where c.user_id = u.id and c.period = ${window})`;
  const [row] = await queryRows<UsageRow>(
    ctx.db,
    sql`
    select ${planColumnsSql}, ${countersOf(day)} as day, ${countersOf(period)} as month,
      coalesce((select bytes from upload_totals t where t.user_id = u.id), 0)::float8 as stored_bytes,
      (select coalesce(jsonb_agg(jsonb_build_object('endpoint', endpoint, 'hits', hits, 'lastHit', last_hit)
          order by hits desc, endpoint), '[]')
        from rate_hits h where h.user_id = u.id and h.day = ${day}::date) as hits,
      (select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'name', k.name, 'requests', coalesce(c.requests, 0))
          order by coalesce(c.requests, 0) desc, k.created_at, k.id), '[]')
        from api_keys k left join api_key_usage c on c.key_id = k.id and c.period = ${period}
        where k.user_id = u.id) as keys,
      (select jsonb_build_object('uses', coalesce(sum(tool_uses), 0), 'costUsd', coalesce(sum(tool_cost_usd), 0))
        from usage_records r where r.user_id = u.id and r.tool_uses > 0 and r.day >= ${`${period}-01`}::date
          and r.day < ${`${period}-01`}::date + interval '1 month') as tools
    from users u cross join settings s where u.id = ${caller.id}`,
  );
  if (!row) throw accountDeleted();
  const { storedBytes, hits, keys, tools } = row;
  const limits = getPlanLimits(row);
  return {
    period,
    executions: toQuota(row.month?.executions, limits.executionsPerMonth),
    tokens: toQuota(row.month?.tokens, limits.tokensPerMonth),
    daily: {
      executions: toQuota(row.day?.executions, limits.executionsPerDay),
      tokens: toQuota(row.day?.tokens, limits.tokensPerDay),
    },
    storage: {
      usedBytes: storedBytes,
      limitBytes: limits.uploadBytes,
      usedMB: toMegabytes(storedBytes),
      limitMB: toMegabytes(limits.uploadBytes),
      percentage: toPercentage(storedBytes, limits.uploadBytes),
    },
    rateLimits: {
      hitToday: hits.reduce((sum, hit) => sum + hit.hits, 0),
      endpoints: hits.map((hit) => ({ ...hit, lastHit: new Date(hit.lastHit) })),
    },
    keys,
    tools,
    saved: {
      runs: row.month?.savedRuns ?? 0,
      // Sums of floating-point numbers have errors far behind the smallest price.
      estimatedCostUsd: Number((row.month?.savedUsd ?? 0).toFixed(12)),
    },
  };
}

const toQuota = (used = 0, limit: number) => ({
  used,
  limit,
  remaining: Math.max(0, limit - used),
  percentage: toPercentage(used, limit),
});

/** A share in percent with two decimals; at most 100, although one call may exceed a limit. */
export const toPercentage = (used: number, limit: number): number =>
  Math.min(100, Math.round((used / limit) * 10_000) / 100);

const toMegabytes = (bytes: number) => Math.round((bytes / 1_048_576) * 100) / 100;

/** The fields of `UsageAlert` in the contract. */
export const alertFields = {
  id: usageAlerts.id,
  threshold: usageAlerts.threshold,
  notifyEmail: usageAlerts.notifyEmail,
  notifyWebhook: usageAlerts.notifyWebhook,
};

/** The caller's alerts, lowest threshold first; at most 100, one for each percent. */
export const listUsageAlerts = (ctx: Context, caller: Caller) =>
  ctx.db
    .select(alertFields)
    .from(usageAlerts)
    .where(eq(usageAlerts.userId, caller.id))
    .orderBy(asc(usageAlerts.threshold));
