import type { Usage } from '@carillon/contract/usage';
import { queryRows, usageAlerts } from '@carillon/db';
import { asc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../limits/quotas.ts';
import { toPercentage } from './percentage.ts';

interface Counted {
  executions: number;
  tokens: number;
}

interface UsageRow extends PlanRow {
  storedBytes: number;
  day: Counted | null;
  month: Counted | null;
  hits: { endpoint: string; hits: number; lastHit: string }[];
}

/** What the caller has used today and this month, in UTC, and may use (specification `GET /api/usage`). */
export async function getUsage(ctx: Context, caller: Caller): Promise<Usage> {
  const day = toUtcDay(ctx.now());
  const period = toUtcMonth(day);
  const counted = (of: string) =>
    sql`(select jsonb_build_object('executions', executions, 'tokens', tokens)
      from usage_counters c where c.user_id = u.id and c.period = ${of})`;
  const [row] = await queryRows<UsageRow>(
    ctx.db,
    sql`
    select ${planColumnsSql}, ${counted(day)} as day, ${counted(period)} as month,
      coalesce((select bytes from upload_totals t where t.user_id = u.id), 0)::float8 as "storedBytes",
      (select coalesce(jsonb_agg(jsonb_build_object('endpoint', endpoint, 'hits', hits, 'lastHit', last_hit)
          order by hits desc, endpoint), '[]')
        from rate_hits h where h.user_id = u.id and h.day = ${day}::date) as hits
    from users u cross join settings s where u.id = ${caller.id}`,
  );
  if (!row) throw accountDeleted();
  const { storedBytes, hits } = row;
  const limits = getPlanLimits(row);
  return {
    period,
    executions: quota(row.month?.executions, limits.executionsPerMonth),
    tokens: quota(row.month?.tokens, limits.tokensPerMonth),
    daily: {
      executions: quota(row.day?.executions, limits.executionsPerDay),
      tokens: quota(row.day?.tokens, limits.tokensPerDay),
    },
    storage: {
      usedBytes: storedBytes,
      limitBytes: limits.uploadBytes,
      usedMB: megabytes(storedBytes),
      limitMB: megabytes(limits.uploadBytes),
      percentage: toPercentage(storedBytes, limits.uploadBytes),
    },
    rateLimits: {
      hitToday: hits.reduce((sum, hit) => sum + hit.hits, 0),
      endpoints: hits.map((hit) => ({ ...hit, lastHit: new Date(hit.lastHit) })),
    },
  };
}

const quota = (counted: number | undefined, limit: number) => {
  const used = counted ?? 0;
  return { used, limit, remaining: Math.max(0, limit - used), percentage: toPercentage(used, limit) };
};

const megabytes = (bytes: number) => Math.round((bytes / 1_048_576) * 100) / 100;

/** What is shown of an alert (decisions §9). */
export const alertFields = {
  id: usageAlerts.id,
  threshold: usageAlerts.threshold,
  notifyEmail: usageAlerts.notifyEmail,
  notifyWebhook: usageAlerts.notifyWebhook,
};

/** The caller's alerts, the lowest threshold first: 100 at most, as there is one for each percent. */
export const listUsageAlerts = (ctx: Context, caller: Caller) =>
  ctx.db
    .select(alertFields)
    .from(usageAlerts)
    .where(eq(usageAlerts.userId, caller.id))
    .orderBy(asc(usageAlerts.threshold));
