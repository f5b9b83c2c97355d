import { DAY_MS } from '@carillon/contract/primitives';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { fromReplica } from '../../../platform/queries/from-replica.ts';
import { successRate } from '../../../platform/queries/user-counts.ts';

/** An upper bound of how far the order of ids and that of `created_at` differ, as the clocks of processes do. */
const MAX_DISORDER_MS = 60 * 60 * 1000;

/** Counts over the whole service; `success`, `failed` and `successRate` are of the executions of the last 24 hours. */
export const getSystemStats = fromReplica(async (ctx: Context) => {
  const since = new Date(ctx.now().getTime() - DAY_MS);
  const [[counts], [executions]] = await Promise.all([
    queryRows<Counts>(ctx.db, countsQuery(since)),
    queryRows<{ last24h: number; success: number; failed: number }>(ctx.db, executionsQuery(since)),
  ]);
  if (!counts || !executions) throw new Error('A query of counts has returned no row.');
  const { success, failed } = executions;
  return { ...counts, executions: { ...executions, successRate: successRate(success, failed) } };
});

interface Counts {
  users: { total: number; active: number; new24h: number };
  tasks: { total: number; active: number; paused: number };
}

const countsQuery = (since: Date) => sql`
  select (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where is_active),
      'new24h', count(*) filter (where created_at > ${since.toISOString()}))
    from users
  ) as users, (
    select jsonb_build_object('total', count(*), 'active', count(*) filter (where status = 'active'),
      'paused', count(*) filter (where status = 'paused'))
    from tasks
  ) as tasks`;

const executionsQuery = (since: Date) => sql`
  select count(*)::int as "last24h", count(*) filter (where status = 'completed')::int as success,
    count(*) filter (where status = 'failed')::int as failed
  from executions where ${newerThan(since)}`;

/** `created_at` has no index: reading the primary key backwards touches only the rows since then and an hour before. */
export const newerThan = (since: Date) => sql`created_at > ${since.toISOString()} and id > coalesce((
    select id from executions where created_at < ${new Date(since.getTime() - MAX_DISORDER_MS).toISOString()}
    order by id desc limit 1), 0)`;
