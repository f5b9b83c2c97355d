import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { admitExecution, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../limits/quotas.ts';

/** A retry whose wait is over. */
export interface DueRetry {
  id: number;
  userId: number;
}

/** Locks up to `limit` retries whose wait was over before `dueBefore`, with their tasks; none in maintenance mode. */
export function findDueRetries(ctx: Context, dueBefore: Date, limit: number): Promise<DueRetry[]> {
  return queryRows<DueRetry>(
    ctx.db,
    sql`
    select e.id, e.user_id as "userId" from executions e join tasks t on t.id = e.task_id
    where e.status = 'pending' and e.queued_at is null and e.run_at <= ${dueBefore.toISOString()}
      and not (select maintenance_mode from settings)
    order by e.run_at limit ${limit} for no key update of t, e skip locked`,
  );
}

/**
 * Queues the retries that their accounts admit, and tells which these are and which a quota refuses. Those of a
 * deactivated account go, as those of a paused task have gone.
 */
export async function queueRetries(
  ctx: Context,
  due: readonly DueRetry[],
  accounts: ReadonlyMap<number, QuotaAccount>,
  now: Date,
) {
  const queued: DueRetry[] = [];
  const refused: { id: number; breach: QuotaExceeded }[] = [];
  if (due.length === 0) return { queued, refused };
  const dropped: number[] = [];
  for (const retry of due) {
    const account = accounts.get(retry.userId);
    const breach = account?.isActive ? admitExecution(account, now) : null;
    if (!account?.isActive) dropped.push(retry.id);
    else if (breach) refused.push({ id: retry.id, breach });
    else queued.push(retry);
  }
  await ctx.db.execute(sql`
    with dropped as (delete from executions where id = any(${idList(dropped)}::int[]))
    update executions set queued_at = ${now.toISOString()}, usage_day = ${toUtcDay(now)}
    where id = any(${idList(queued.map((retry) => retry.id))}::int[])`);
  return { queued, refused };
}

const idList = (ids: readonly number[]) => `{${ids.join(',')}}`;
