import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { successRate } from './user-counts.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Far more than lies between the instant that a row has and the moment that its id is given out, in any process. */
const DISORDER_MS = 60 * 60 * 1000;

/**
 * Figures of the whole service for an admin (specification "Server actions"). `last24h` are the executions made in the
 * 24 hours until now, to the millisecond; `success`, `failed` and `successRate` are of these.
 */
export async function getSystemStats(ctx: Context) {
  const since = new Date(ctx.now().getTime() - DAY_MS);
  const [[counts], [executions]] = await Promise.all([
    queryRows<Counts>(ctx.db, countsQuery(since)),
    queryRows<{ last24h: number; success: number; failed: number }>(ctx.db, executionsQuery(since)),
  ]);
  if (!counts || !executions) throw new Error('A query of counts has returned no row.');
  const { success, failed } = executions;
  return { ...counts, executions: { ...executions, successRate: successRate(success, failed) } };
}

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

/**
 * Looks for the first execution to count by halving the range of ids, as these are given out in order of time: some 30
 * looks into the primary key, and then only what is to be counted is read. Of two rows the later one may have the lower
 * id by as little as processes and clocks differ, so the search is for an instant that much earlier.
 */
const executionsQuery = (since: Date) => sql`
  with recursive search(low, high) as (
    (select min(id)::bigint, max(id)::bigint + 1 from executions)
    union all
    select case when probe.is_older then probe.id + 1 else s.low end,
      case when probe.is_older then s.high else s.middle end
    from (select low, high, (low + high) / 2 as middle from search where low < high) s
    cross join lateral (
      select e.id, e.created_at < ${new Date(since.getTime() - DISORDER_MS).toISOString()} as is_older
      from executions e where e.id >= s.middle order by e.id limit 1
    ) probe
  )
  select count(*)::int as "last24h", count(*) filter (where status = 'completed')::int as success,
    count(*) filter (where status = 'failed')::int as failed
  from executions
  where id >= (select max(low) from search) and created_at > ${since.toISOString()}`;
