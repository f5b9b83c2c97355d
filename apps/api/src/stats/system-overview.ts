import { DAY_MS } from '@carillon/contract/primitives';
import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { createReadinessCheck } from '../health/readiness.ts';
import { toUtcDay } from '../limits/quotas.ts';
import { queuesQuery } from '../telemetry/queues.ts';
import { type ActiveCounts, type ExecutionCounts, executionsQuery, topUsersQuery } from './read.ts';
import { newerThan } from './system.ts';
import { successRate } from './user-counts.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;
const DAYS = 30;

interface Row {
  users: ActiveCounts & { newLast30Days: number };
  tasks: ActiveCounts;
  coupons: ActiveCounts;
  executions: ExecutionCounts;
  topUsers: { user_id: number; user_name: string; user_email: string; execution_count: number }[];
  hours: ({ hour: number } & HourCounts)[];
  days: { day: string; completed: number; failed: number }[];
  queues: { due_at: string | null; executions: number; deliveries: number; mails: number; maintenance: boolean };
}

interface HourCounts {
  completed: number;
  failed: number;
  live: number;
}

/** The state of the whole service, in two statements. What may be many is read from counters and partial indexes. */
export async function getServiceOverview(ctx: Context) {
  const now = ctx.now();
  const firstHour = new Date((Math.floor(now.getTime() / HOUR_MS) - HOURS + 1) * HOUR_MS);
  const firstDay = new Date(now.getTime() - (DAYS - 1) * DAY_MS);
  const [readiness, [row]] = await Promise.all([
    createReadinessCheck(ctx)(),
    queryRows<Row>(ctx.db, overviewQuery(now, firstHour, firstDay)),
  ]);
  if (!row) throw new Error('The statement returned no row.');
  const { users, tasks, coupons, executions, topUsers, queues } = row;
  const { completed, failed, pending, running, last30Days } = executions;
  const dueAt = toInstantOrNull(queues.due_at);
  return {
    readiness,
    isMaintenance: queues.maintenance,
    stats: {
      users,
      tasks,
      coupons,
      executions: {
        total: completed + failed + pending + running,
        last30Days,
        byStatus: { completed, failed, pending, running },
        successRate: successRate(completed, failed),
      },
      topUsers: topUsers.map((top) => ({
        userId: top.user_id,
        userName: top.user_name,
        userEmail: top.user_email,
        executionCount: top.execution_count,
      })),
    },
    queues: {
      executions: queues.executions,
      deliveries: queues.deliveries,
      mails: queues.mails,
      oldestDueMs: dueAt === null ? 0 : Math.max(0, now.getTime() - dueAt.getTime()),
    },
    hours: Array.from({ length: HOURS }, (_, hour) => {
      const { completed = 0, failed = 0, live = 0 } = row.hours.find((one) => one.hour === hour) ?? {};
      return { from: new Date(firstHour.getTime() + hour * HOUR_MS), completed, failed, live };
    }),
    days: Array.from({ length: DAYS }, (_, at) => {
      const day = toUtcDay(new Date(firstDay.getTime() + at * DAY_MS));
      return row.days.find((one) => one.day === day) ?? { day, completed: 0, failed: 0 };
    }),
  };
}

const overviewQuery = (now: Date, firstHour: Date, firstDay: Date) => {
  const since = new Date(now.getTime() - DAYS * DAY_MS);
  return sql`
  select (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'inactive', count(*) filter (where not is_active),
      'newLast30Days', count(*) filter (where created_at >= ${since.toISOString()}))
    from users
  ) as users, (
    select jsonb_build_object('total', counted.total, 'active', active.total, 'inactive', counted.total - active.total)
    from (select coalesce(sum(task_count), 0)::int as total from users) counted,
      (select count(*)::int as total from tasks where status = 'active') active
  ) as tasks, (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'inactive', count(*) filter (where not is_active))
    from coupons
  ) as coupons,
  (select to_jsonb(e) from (${executionsQuery(since)}) e) as executions,
  (select coalesce(jsonb_agg(u), '[]') from (${topUsersQuery}) u) as top_users, (
    select coalesce(jsonb_agg(h), '[]') from (
      select floor(extract(epoch from created_at - ${firstHour.toISOString()}) / 3600)::int as hour,
        count(*) filter (where status = 'completed')::int as completed,
        count(*) filter (where status = 'failed')::int as failed,
        count(*) filter (where status in ('pending', 'running'))::int as live
      from executions where ${newerThan(firstHour)} group by 1) h
  ) as hours, (
    select coalesce(jsonb_agg(d), '[]') from (
      select period as day, sum(completed)::int as completed, sum(failed)::int as failed
      from usage_counters where length(period) = 10 and period >= ${toUtcDay(firstDay)} group by period) d
  ) as days,
  (select to_jsonb(q) from (${queuesQuery}) q) as queues`;
};
