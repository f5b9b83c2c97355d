import { rows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { admitExecution, type Breach, dayOf, lockAccounts } from '../limits/quotas.ts';
import { addUsage } from '../usage/book.ts';
import type { TakenUp } from './queue.ts';
import { refuseExecutions } from './settle.ts';

/**
 * Queues up to `limit` retries whose wait was over before `dueBefore`, or ends them over quota, in the caller's
 * transaction. Those of a deactivated account go, as those of a paused task have gone.
 */
export async function takeUpRetries(ctx: Context, dueBefore: Date, limit: number): Promise<TakenUp> {
  const due = await rows<{ id: number; userId: number }>(
    ctx.db,
    sql`
    select e.id, e.user_id as "userId" from executions e join tasks t on t.id = e.task_id
    where e.status = 'pending' and e.queued_at is null and e.run_at <= ${dueBefore.toISOString()}
      and not (select maintenance_mode from settings)
    order by e.run_at limit ${limit} for no key update of t, e skip locked`,
  );
  if (due.length === 0) return { taken: 0, queued: [], refused: [] };

  const now = ctx.now();
  const day = dayOf(now);
  const userIds = due.map((retry) => retry.userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const queued: typeof due = [];
  const refused: { id: number; breach: Breach }[] = [];
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
    update executions set queued_at = ${now.toISOString()}, usage_day = ${day}
    where id = any(${idList(queued.map((retry) => retry.id))}::int[])`);
  await addUsage(
    ctx,
    queued.map((retry) => ({ userId: retry.userId, day, executions: 1 })),
  );
  await refuseExecutions(ctx, refused);
  return { taken: due.length, queued: queued.map((retry) => retry.id), refused: refused.map((retry) => retry.id) };
}

const idList = (ids: readonly number[]) => `{${ids.join(',')}}`;
