import type { ExecutionErrorCode } from '@carillon/contract/executions';
import { DAY_MS } from '@carillon/contract/primitives';
import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { joinProviders } from '../../../lib/ai/providers.ts';
import { VERSION } from '../../../lib/config/config.ts';
import { queuesQuery } from '../../../lib/telemetry/queues.ts';
import { toUtcDay } from '../../../platform/limits/quotas.ts';
import { fromReplica } from '../../../platform/queries/from-replica.ts';
import { successRate } from '../../../platform/queries/user-counts.ts';
import { createReadinessCheck } from '../health/readiness.ts';
import { type ActiveCounts, topUsersQuery } from './read.ts';
import { newerThan } from './system.ts';

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;
const DAYS = 30;

/** Adding up the counters of many users takes a while. */
const TOTALS_TTL_MS = 60_000;

interface Totals {
  users: ActiveCounts & { newLast30Days: number };
  tasks: ActiveCounts;
  ended: { completed: number; failed: number; stopped: number };
  topUsers: { user_id: number; user_name: string; user_email: string; execution_count: number }[];
  /** Stopped runs are no failures. */
  days: { day: string; completed: number; failed: number }[];
}

interface Present {
  live: { pending: number; running: number };
  hours: { hour: number; completed: number; failed: number; live: number }[];
  /** Of the same hours, the most frequent first; without stopped and refused runs. */
  failures: { errorCode: ExecutionErrorCode; runs: number; users: number }[];
  providers: string[];
  lastBackupAt: string | null;
  queues: { due_at: string | null; executions: number; deliveries: number; mails: number; maintenance: boolean };
}

/**
 * Returns the function that reads the state of the whole service, in two statements. Totals of users, tasks and days are at
 * most a minute old.
 */
export function createSystemOverview() {
  let known: { totals: Totals; at: number } | null = null;

  const readRow = fromReplica(async (ctx: Context): Promise<Present & Totals> => {
    const at = ctx.now().getTime();
    const fresh = known !== null && at >= known.at && at - known.at < TOTALS_TTL_MS ? known.totals : null;
    const columns = fresh ? presentColumns(at) : sql`${presentColumns(at)}, ${totalColumns(at)}`;
    const [row] = await queryRows<Present & Totals>(ctx.db, sql`select ${columns}`);
    if (!row) throw new Error('The statement returned no row.');
    if (fresh) return { ...row, ...fresh };
    const { users, tasks, ended, topUsers, days } = row;
    known = { totals: { users, tasks, ended, topUsers, days }, at };
    return row;
  });

  return async (ctx: Context) => {
    const [readiness, row] = await Promise.all([createReadinessCheck(ctx)(), readRow(ctx)]);
    return { readiness, installation: describeInstallation(ctx, row), ...describe(row, ctx.now().getTime()) };
  };
}

function describeInstallation({ config: { ai, mail, storage } }: Context, { providers, lastBackupAt }: Present) {
  const { list, isOffline } = joinProviders(ai, []);
  return {
    version: VERSION,
    providers: [...list.map(({ name }) => name), ...providers],
    isOffline: isOffline && providers.length === 0,
    mail: mail.smtpUrl === null ? { folder: mail.folder } : { host: new URL(mail.smtpUrl).host },
    storage: {
      driver: storage.driver,
      place: storage.driver === 'disk' ? storage.folder : storage.driver === 's3' ? storage.s3.bucket : null,
    },
    lastBackupAt: toInstantOrNull(lastBackupAt),
  };
}

const toFirstHour = (now: number) => new Date((Math.floor(now / HOUR_MS) - HOURS + 1) * HOUR_MS);
const toFirstDay = (now: number) => new Date(now - (DAYS - 1) * DAY_MS);

function describe(row: Present & Totals, now: number) {
  const { users, tasks, topUsers, queues, ended, live, hours, days, failures } = row;
  const dueAt = toInstantOrNull(queues.due_at);
  return {
    isMaintenance: queues.maintenance,
    users,
    tasks,
    failures,
    runs: {
      total: ended.completed + ended.failed + live.pending + live.running,
      running: live.running,
      successRate: successRate(ended.completed, ended.failed - ended.stopped),
    },
    topUsers: topUsers.map((top) => ({
      userId: top.user_id,
      userName: top.user_name,
      userEmail: top.user_email,
      executionCount: top.execution_count,
    })),
    queues: {
      executions: queues.executions,
      deliveries: queues.deliveries,
      mails: queues.mails,
      oldestDueMs: dueAt === null ? 0 : Math.max(0, now - dueAt.getTime()),
    },
    hours: Array.from({ length: HOURS }, (_, hour) => {
      const { completed = 0, failed = 0, live = 0 } = hours.find((one) => one.hour === hour) ?? {};
      return { from: new Date(toFirstHour(now).getTime() + hour * HOUR_MS), completed, failed, live };
    }),
    days: Array.from({ length: DAYS }, (_, at) => {
      const day = toUtcDay(new Date(toFirstDay(now).getTime() + at * DAY_MS));
      return days.find((one) => one.day === day) ?? { day, completed: 0, failed: 0 };
    }),
  };
}

const presentColumns = (now: number) => sql`
  (select jsonb_build_object('pending', count(*) filter (where status = 'pending'),
      'running', count(*) filter (where status = 'running'))
    from executions_live where status in ('pending', 'running')
  ) as live, (
    select coalesce(jsonb_agg(h), '[]') from (
      select floor(extract(epoch from created_at - ${toFirstHour(now).toISOString()}) / 3600)::int as hour,
        count(*) filter (where status = 'completed')::int as completed,
        count(*) filter (where status = 'failed' and error_code is distinct from 'CANCELLED')::int as failed,
        count(*) filter (where status in ('pending', 'running'))::int as live
      from executions where ${newerThan(toFirstHour(now))} group by 1) h
  ) as hours,
  (select coalesce(jsonb_agg(f order by f.runs desc), '[]') from (
      select error_code as "errorCode", count(*)::int as runs, count(distinct user_id)::int as users from executions
      where ${newerThan(toFirstHour(now))} and status = 'failed' and error_code <> 'CANCELLED'
        and (error_code <> 'QUOTA_EXCEEDED' or started_at is not null) group by 1) f
  ) as failures,
  (select coalesce(jsonb_agg(name order by created_at, id), '[]') from providers) as providers,
  (select last_backup_at from settings) as last_backup_at,
  (select to_jsonb(q) from (${queuesQuery}) q) as queues`;

const totalColumns = (now: number) => sql`
  (select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'inactive', count(*) filter (where not is_active),
      'newLast30Days', count(*) filter (where created_at >= ${new Date(now - DAYS * DAY_MS).toISOString()}))
    from users
  ) as users, (
    select jsonb_build_object('total', counted.total, 'active', active.total, 'inactive', counted.total - active.total)
    from (select coalesce(sum(task_count), 0)::int as total from users) counted,
      (select count(*)::int as total from tasks where status = 'active') active
  ) as tasks, (
    select jsonb_build_object('completed', coalesce(sum(completed), 0)::int, 'failed', coalesce(sum(failed), 0)::int,
        'stopped', coalesce(sum(stopped), 0)::int)
    from usage_counters where length(period) = 7
  ) as ended,
  (select coalesce(jsonb_agg(u), '[]') from (${topUsersQuery}) u) as top_users, (
    select coalesce(jsonb_agg(d), '[]') from (
      select period as day, sum(completed)::int as completed, sum(failed - stopped)::int as failed
      from usage_counters where length(period) = 10 and period >= ${toUtcDay(toFirstDay(now))} group by period) d
  ) as days`;
