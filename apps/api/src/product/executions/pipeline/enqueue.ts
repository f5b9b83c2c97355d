import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { lockAccounts, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../../../platform/limits/quotas.ts';
import { inTransaction } from '../../../transaction.ts';
import { notifyRefusedRuns, type RefusedRun } from '../../usage/notify-refused.ts';
import { recordUsage } from '../../usage/record.ts';
import { loadHighestCost } from '../budget/costs.ts';
import { notifyRefused } from '../budget/notices.ts';
import {
  admitRetries,
  completeTasks,
  findPlannedExecutions,
  insertPlanned,
  lockDueRetries,
  lockDueTasks,
  queueRetries,
} from '../planning/due-tasks.ts';
import {
  computeDueOccurrences,
  listEnding,
  listOverBudget,
  listReplacing,
  planOccurrences,
  type TaskPlan,
} from '../planning/plan-occurrences.ts';
import { cancelExecutions } from './cancel.ts';
import { failOverQuota } from './complete.ts';

const MAX_BATCH = 200;

export interface Enqueued {
  queued: number[];
  refused: number[];
}

/**
 * Queues due tasks, with their ledger rows, and due retries. Processes may call it concurrently. Does nothing in
 * maintenance mode.
 */
export async function enqueueDue(ctx: Context, { overdueMs = 0 } = {}): Promise<Enqueued> {
  const all: Enqueued = { queued: [], refused: [] };
  let mayBeMore = true;
  while (mayBeMore) {
    const dueBefore = new Date(ctx.now().getTime() - overdueMs);
    const batch = await inTransaction(ctx, (tx) => enqueueBatch(tx, dueBefore));
    all.queued.push(...batch.queued);
    all.refused.push(...batch.refused);
    for (const id of batch.queued) ctx.trace.mark(`execution ${id}`);
    if (batch.queued.length > 0) ctx.worker.wakeExecutions();
    ({ mayBeMore } = batch);
  }
  return all;
}

/** Null if nothing is planned. */
export async function findNextDueAt(ctx: Context): Promise<Date | null> {
  const [row] = await queryRows<{ at: string | null }>(
    ctx.db,
    sql`
    select least(
      (select min(next_execution_at) from tasks where next_execution_at is not null),
      (select min(run_at) from executions_live where status = 'pending' and queued_at is null)
    ) as at`,
  );
  return toInstantOrNull(row?.at ?? null);
}

async function enqueueBatch(ctx: Context, dueBefore: Date): Promise<Enqueued & { mayBeMore: boolean }> {
  const [, tasks, retries] = await Promise.all([
    // If this commit is lost, the tasks are still due. Commits of starts and deliveries flush it.
    queryRows(ctx.db, sql`set local synchronous_commit to off`),
    lockDueTasks(ctx, dueBefore, MAX_BATCH),
    lockDueRetries(ctx, dueBefore, MAX_BATCH),
  ]);
  if (tasks.length + retries.length === 0) return { queued: [], refused: [], mayBeMore: false };

  const now = ctx.now();
  const { due, isCut } = computeDueOccurrences(ctx, tasks, now);
  const userIds = [...due.map(({ task }) => task), ...retries].map(({ userId }) => userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const highestCost = await loadHighestCost(
    ctx,
    due.map(({ task }) => task.budget),
  );
  const plans = due.map(({ task, occurrences }) =>
    planOccurrences(task, occurrences, { account: accounts.get(task.userId) as QuotaAccount, highestCost, now }),
  );
  const replaced = await cancelReplaced(ctx, plans);
  const waiting = retries.filter(({ id }) => !replaced.has(id));
  const admitted = admitRetries(waiting, accounts, now);
  const [inserted] = await Promise.all([insertPlanned(ctx, plans, now), queueRetries(ctx, admitted, now)]);

  const queued = [...inserted.filter(({ isQueued }) => isQueued), ...admitted.queued];
  const day = toUtcDay(now);
  await recordUsage(
    ctx,
    queued.map(({ userId }) => ({ userId, day, executions: 1 })),
  );
  const exceededByTask = new Map(
    plans.flatMap(({ task, runs }) => runs.map(({ exceeded }) => [task.id, exceeded] as const)),
  );
  const refused = inserted
    .filter(({ isQueued }) => !isQueued)
    .map(({ id, taskId }) => ({ id, exceeded: exceededByTask.get(taskId) as QuotaExceeded }))
    .concat(admitted.refused);
  // Readers of the event log remember the ids of what is committed.
  if (refused.length + replaced.size > 0) await queryRows(ctx.db, sql`set local synchronous_commit to default`);
  if (refused.length > 0) {
    await failOverQuota(ctx, refused);
    await notifyRefusedRuns(ctx, listRefused(plans, waiting, admitted.refused, accounts));
  }
  await completeTasks(ctx, listEnding(plans));
  await notifyRefused(ctx, listOverBudget(plans));
  return {
    queued: queued.map(({ id }) => id),
    refused: refused.map(({ id }) => id),
    mayBeMore: isCut || tasks.length === MAX_BATCH || retries.length === MAX_BATCH,
  };
}

/** With the accounts that were locked for them. */
function listRefused(
  plans: readonly TaskPlan[],
  retries: readonly { id: number; userId: number }[],
  refused: readonly { id: number; exceeded: QuotaExceeded }[],
  accounts: ReadonlyMap<number, QuotaAccount>,
): RefusedRun[] {
  const planned = plans.flatMap(({ task, runs }) => runs.map(({ exceeded }) => ({ userId: task.userId, exceeded })));
  const users = new Map(retries.map(({ id, userId }) => [id, userId]));
  const retried = refused.map(({ id, exceeded }) => ({ userId: users.get(id) as number, exceeded }));
  return [...planned, ...retried].flatMap(({ userId, exceeded }) =>
    exceeded === null ? [] : [{ account: accounts.get(userId) as QuotaAccount, exceeded }],
  );
}

/** The locks of the tasks keep other transactions off these executions, so that they may be locked after the accounts. */
async function cancelReplaced(ctx: Context, plans: readonly TaskPlan[]): Promise<Set<number>> {
  const replacing = listReplacing(plans);
  if (replacing.length === 0) return new Set();
  const ids = await findPlannedExecutions(ctx, replacing);
  return new Set(await cancelExecutions(ctx, ids, 'The next planned run of the task replaced it.'));
}
