import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { lockAccounts, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../../../platform/limits/quotas.ts';
import { notifyRefusedRuns, type RefusedRun } from '../../usage/notify-refused.ts';
import { recordUsage } from '../../usage/record.ts';
import { loadHighestCost } from '../budget/costs.ts';
import { notifyRefused } from '../budget/notices.ts';
import {
  admitRetries,
  completeTasks,
  type DueRetry,
  findPlannedExecutions,
  insertPlanned,
  queueRetries,
} from '../planning/due-tasks.ts';
import {
  type DueTask,
  listEnding,
  listLooks,
  listOverBudget,
  listReplacing,
  type PlanLimits,
  type TaskPlan,
} from '../planning/plan-occurrences.ts';
import { queueLooks } from '../sources/queue.ts';
import { cancelExecutions } from './cancel.ts';
import { failOverQuota } from './complete.ts';

interface Batch {
  /** Locked tasks. `plan` decides under the locks of the accounts. */
  due: readonly { task: DueTask; plan(limits: PlanLimits): TaskPlan }[];
  retries: readonly DueRetry[];
  now: Date;
}

/** Writes what follows from due tasks and retries: executions, looks at sources, and entries of the ledger. */
export async function planBatch(ctx: Context, { due, retries, now }: Batch) {
  const userIds = [...due.map(({ task }) => task), ...retries].map(({ userId }) => userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const highestCost = await loadHighestCost(
    ctx,
    due.map(({ task }) => task.budget),
  );
  const plans = due.map(({ task, plan }) =>
    plan({ account: accounts.get(task.userId) as QuotaAccount, highestCost, now }),
  );
  const replaced = await cancelReplaced(ctx, plans);
  const waiting = retries.filter(({ id }) => !replaced.has(id));
  const admitted = admitRetries(waiting, accounts, now);
  const [inserted] = await Promise.all([
    insertPlanned(ctx, plans, now),
    queueLooks(ctx, listLooks(plans)),
    queueRetries(ctx, admitted, now),
  ]);

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
  return { plans, inserted, queued, refused };
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
