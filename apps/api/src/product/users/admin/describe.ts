import { identities, settings, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { userNotFound } from '../../../errors.ts';
import { getPlanLimits, planColumns } from '../../../platform/limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { executionStats, taskStats } from '../../../platform/queries/user-counts.ts';
import { listActivity } from './activity.ts';
import { accountColumns, toAccountStats } from './read.ts';

interface SessionRow {
  userAgent: string | null;
  address: string | null;
  createdAt: string;
  lastUsedAt: string;
}

/** Spelled out, as in `queries/user-counts.ts`. */
const userId = sql.raw('"users"."id"');

/** An account with its counts, what it has used this month, its sessions and its latest activity. Throws 404. */
export async function describeAccount(ctx: Context, id: number) {
  const month = toUtcMonth(toUtcDay(ctx.now()));
  const usedThisMonth = (counter: 'executions' | 'tokens') =>
    sql<number>`coalesce((select c.${sql.identifier(counter)} from usage_counters c
      where c.user_id = ${userId} and c.period = ${month}), 0)::float8`;
  const [[found], recentActivity] = await Promise.all([
    ctx.db
      .select({
        user: { ...accountColumns, timezone: users.timezone, updatedAt: users.updatedAt },
        emailVerifiedAt: users.emailVerifiedAt,
        hasPassword: sql<boolean>`${users.passwordHash} is not null`,
        providers: sql<string[]>`(select coalesce(jsonb_agg(i.provider order by i.id), '[]')
          from ${identities} i where i.user_id = ${userId})`,
        sessions: sql<SessionRow[]>`(select coalesce(jsonb_agg(jsonb_build_object('userAgent', s.user_agent,
            'address', s.address, 'createdAt', s.created_at, 'lastUsedAt', s.last_used_at)
            order by s.last_used_at desc), '[]')
          from sessions s where s.user_id = ${userId} and s.expires_at > ${ctx.now().toISOString()})`,
        limits: planColumns,
        runsThisMonth: usedThisMonth('executions'),
        tokensThisMonth: usedThisMonth('tokens'),
        ...taskStats,
        ...executionStats,
      })
      .from(users)
      .crossJoin(settings)
      .where(eq(users.id, id)),
    listActivity(ctx, id),
  ]);
  if (!found) throw userNotFound();
  const { user, emailVerifiedAt, hasPassword, providers, sessions } = found;
  const limits = getPlanLimits(found.limits);
  return {
    ...user,
    emailVerifiedAt,
    hasPassword,
    providers,
    sessions,
    usage: {
      runs: { used: found.runsThisMonth, limit: limits.executionsPerMonth },
      tokens: { used: found.tokensThisMonth, limit: limits.tokensPerMonth },
    },
    stats: toAccountStats(found),
    recentActivity,
  };
}
