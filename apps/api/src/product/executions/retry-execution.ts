import { executions, queryRows, toInstantOrNull } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, executionNotFound } from '../../errors.ts';
import { chargeExecution, lockActiveAccount } from '../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { recordUsage } from '../usage/record.ts';
import { assertWithinBudget } from './budget/assert-within-budget.ts';
import { lockExecution } from './locked-execution.ts';

export interface RetriedExecution {
  executionId: number;
  status: 'pending' | 'running';
  /** When it was queued, if it is pending. */
  startedAt: Date;
  /** False for a live retry that existed. */
  isNew: boolean;
}

/**
 * Returns a live retry of any depth if there is one, so that nothing is paid twice; a scheduled one is queued now.
 * Throws 404, 402 over quota, and 409 for an execution that has not failed.
 */
export async function retryExecution(ctx: Context, caller: Caller, executionId: number): Promise<RetriedExecution> {
  const retried = await inTransaction(ctx, async (tx): Promise<RetriedExecution> => {
    const failed = await lockFailed(tx, caller, executionId);
    const live = await findLiveRetry(tx, failed.id);
    if (live?.since) return { executionId: live.id, status: live.status, startedAt: live.since, isNew: false };

    const now = tx.now();
    const account = await lockActiveAccount(tx, caller.id);
    if (!account) throw executionNotFound();
    const usage = chargeExecution(account, now);
    await assertWithinBudget(tx, failed.budget);
    await recordUsage(tx, [usage]);
    const queued = { runAt: now, queuedAt: now, usageDay: usage.day };
    const id = live ? await queueRetry(tx, live.id, queued) : await insertRetry(tx, failed, queued);
    return { executionId: id, status: 'pending', startedAt: now, isNew: live === null };
  });
  if (retried.status === 'pending') {
    ctx.trace.mark(`execution ${retried.executionId}`);
    afterCommit(ctx, () => ctx.worker.wakeExecutions());
  }
  return retried;
}

async function lockFailed(ctx: Context, caller: Caller, id: number) {
  const found = await lockExecution(ctx, caller, id);
  if (found.status === 'failed') return found;
  throw new AppError(
    'conflict',
    `This execution is ${found.status} and cannot be retried, because only failed executions can.`,
  );
}

interface LiveRetry {
  id: number;
  status: RetriedExecution['status'];
  /** Null while it is scheduled. */
  since: Date | null;
}

async function findLiveRetry(ctx: Context, id: number): Promise<LiveRetry | null> {
  const [live] = await queryRows<Omit<LiveRetry, 'since'> & { since: string | null }>(
    ctx.db,
    sql`
    with recursive retries as (
      select id from executions where retry_of_id = ${id} and id > ${id}
      union all
      select e.id from executions e join retries r on e.retry_of_id = r.id and e.id > r.id
    )
    select e.id, e.status, case e.status when 'running' then e.started_at else e.queued_at end as since
    from executions e join retries using (id)
    where e.status in ('pending', 'running') order by since nulls last, e.id limit 1`,
  );
  return live ? { ...live, since: toInstantOrNull(live.since) } : null;
}

type Queued = Pick<typeof executions.$inferInsert, 'runAt' | 'queuedAt' | 'usageDay'> & { queuedAt: Date };

async function queueRetry({ db }: Context, id: number, queued: Queued): Promise<number> {
  await db.update(executions).set(queued).where(eq(executions.id, id));
  return id;
}

async function insertRetry({ db }: Context, failed: Awaited<ReturnType<typeof lockFailed>>, queued: Queued) {
  const { id: retryOfId, taskId, userId, viaWebhook } = failed;
  const retry = { taskId, userId, viaWebhook, retryOfId, status: 'pending', trigger: 'manual' } as const;
  const inboundData = viaWebhook ? sql`(select inbound_data from executions where id = ${retryOfId})` : null;
  const [inserted] = await db
    .insert(executions)
    .values({ ...retry, ...queued, inboundData, createdAt: queued.queuedAt })
    .returning({ id: executions.id });
  return (inserted as { id: number }).id;
}
