import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { admitExecution, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../../../platform/limits/quotas.ts';

interface DueRetry {
  id: number;
  userId: number;
}

/** Skips retries that are locked, or whose task is. Plan: `executions_waiting` in order, the task by primary key. */
export function lockDueRetries(ctx: Context, dueBefore: Date, limit: number): Promise<DueRetry[]> {
  return queryRows<DueRetry>(
    ctx.db,
    sql`
    select e.id, e.user_id from executions_live e join tasks t on t.id = e.task_id
    where e.status = 'pending' and e.queued_at is null and e.run_at <= ${dueBefore.toISOString()}
      and not (select maintenance_mode from settings)
    order by e.run_at limit ${limit} for no key update of t, e skip locked`,
  );
}

export function admitRetries(retries: readonly DueRetry[], accounts: ReadonlyMap<number, QuotaAccount>, now: Date) {
  const queued: DueRetry[] = [];
  const refused: { id: number; exceeded: QuotaExceeded }[] = [];
  const dropped: DueRetry[] = [];
  for (const retry of retries) {
    const account = accounts.get(retry.userId);
    if (!account?.isActive) {
      dropped.push(retry);
      continue;
    }
    const exceeded = admitExecution(account, now);
    if (exceeded) refused.push({ id: retry.id, exceeded });
    else queued.push(retry);
  }
  return { queued, refused, dropped };
}

export async function queueRetries(ctx: Context, { queued, dropped }: ReturnType<typeof admitRetries>, now: Date) {
  if (queued.length + dropped.length === 0) return;
  const toIds = (retries: readonly DueRetry[]) => `{${retries.map(({ id }) => id).join(',')}}`;
  await ctx.db.execute(sql`
    with dropped as (delete from executions_live where id = any(${toIds(dropped)}::int[]))
    update executions_live set queued_at = ${now.toISOString()}, usage_day = ${toUtcDay(now)}
    where id = any(${toIds(queued)}::int[])`);
}
