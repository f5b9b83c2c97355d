import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { toUtcDay } from '../../../platform/limits/quotas.ts';
import { fromReplica } from '../../../platform/queries/from-replica.ts';
import { successRate } from '../../../platform/queries/user-counts.ts';

const PERIOD_MS = 30 * 24 * 60 * 60 * 1000;
const TOP_USERS = 10;

/** Counts over the whole service. Ended executions are summed up from the usage counters: there may be too many to count. */
export const getStats = fromReplica(async (ctx: Context) => {
  const since = new Date(ctx.now().getTime() - PERIOD_MS);
  const [[counts], [executions], topUsers] = await Promise.all([
    queryRows<Counts>(ctx.db, countsQuery(since)),
    queryRows<ExecutionCounts>(ctx.db, executionsQuery(since)),
    queryRows<TopUser>(ctx.db, topUsersQuery),
  ]);
  if (!counts || !executions) throw new Error('A query of counts has returned no row.');
  const { completed, failed, pending, running, last30Days } = executions;
  return {
    ...counts,
    executions: {
      total: completed + failed + pending + running,
      last30Days,
      byStatus: { completed, failed, pending, running },
      successRate: successRate(completed, failed),
    },
    topUsers,
  };
});

export interface ActiveCounts {
  total: number;
  active: number;
  inactive: number;
}

interface Counts {
  users: ActiveCounts & { newLast30Days: number };
  tasks: ActiveCounts;
  coupons: ActiveCounts;
}

const countsQuery = (since: Date) => sql`
  select (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'inactive', count(*) filter (where not is_active),
      'newLast30Days', count(*) filter (where created_at >= ${since.toISOString()}))
    from users
  ) as users, (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where status = 'active'),
      'inactive', count(*) filter (where status <> 'active'))
    from tasks
  ) as tasks, (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'inactive', count(*) filter (where not is_active))
    from coupons
  ) as coupons`;

interface ExecutionCounts {
  completed: number;
  failed: number;
  pending: number;
  running: number;
  last30Days: number;
}

/** Pending and running executions are not in the counters yet; a partial index has them. */
const executionsQuery = (since: Date) => sql`
  select ended.*, live.pending, live.running, recent.ended + live.pending + live.running as "last30Days"
  from (
    select coalesce(sum(completed), 0)::int as completed, coalesce(sum(failed), 0)::int as failed
    from usage_counters where length(period) = 7
  ) ended, (
    select coalesce(sum(completed + failed), 0)::int as ended
    from usage_counters where length(period) = 10 and period >= ${toUtcDay(since)}
  ) recent, (
    select count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'running')::int as running
    from executions_live where status in ('pending', 'running')
  ) live`;

interface TopUser {
  userId: number;
  userName: string;
  userEmail: string;
  executionCount: number;
}

export const topUsersQuery = sql`
  select u.id as user_id, u.name as user_name, u.email as user_email, top.count as execution_count
  from (
    select user_id, sum(count)::int as count from (
      select user_id, completed + failed as count from usage_counters where length(period) = 7
      union all
      select user_id, 1 from executions_live where status in ('pending', 'running')
    ) counted
    group by user_id having sum(count) > 0 order by count desc, user_id limit ${TOP_USERS}
  ) top join users u on u.id = top.user_id
  order by top.count desc, u.id`;
