import { recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { CompletedExecution } from './execution-result.ts';

/** When a failed execution is retried; null if it is not. */
export function findRetryTime({ config }: Context, completed: CompletedExecution) {
  const { result, attempt, maxRetries, taskStatus, completedAt } = completed;
  const delayMs = attempt > maxRetries ? undefined : config.executionRetryDelaysMs[attempt - 1];
  if (result.ok || !result.retryable || delayMs === undefined || taskStatus === 'paused') return null;
  return new Date(completedAt.getTime() + Math.max(delayMs, result.retryAfterMs ?? 0));
}

/** Alerts also count failures whose retry is due after the next planned run. */
export function countWaitingFailures(
  { result, nextExecutionAt, waitingFailures }: CompletedExecution,
  retryAt: Date | null,
) {
  if (result.ok) return 0;
  return retryAt !== null && nextExecutionAt !== null && retryAt > nextExecutionAt
    ? waitingFailures + 1
    : waitingFailures;
}

export async function insertRetries(
  { db }: Context,
  followUps: readonly { completed: CompletedExecution; retryAt: Date | null }[],
) {
  const retries = followUps
    .filter(({ retryAt }) => retryAt !== null)
    .map(({ completed, retryAt }) => ({
      taskId: completed.taskId,
      userId: completed.userId,
      plannedFor: completed.plannedFor,
      attempt: completed.attempt + 1,
      retryOfId: completed.id,
      viaWebhook: completed.viaWebhook,
      runAt: retryAt,
      createdAt: completed.completedAt,
    }));
  if (retries.length === 0) return;
  await db.execute(sql`
    insert into executions (task_id, user_id, status, trigger, planned_for, attempt, retry_of_id, via_webhook,
      inbound_data, run_at, created_at)
    select task_id, user_id, 'pending', 'retry', planned_for, attempt, retry_of_id, via_webhook,
      case when via_webhook then (select inbound_data from executions where id = r.retry_of_id) end, run_at, created_at
    from ${recordset('r', retries, {
      taskId: 'int',
      userId: 'int',
      plannedFor: 'timestamptz',
      attempt: 'int',
      retryOfId: 'int',
      viaWebhook: 'boolean',
      runAt: 'timestamptz',
      createdAt: 'timestamptz',
    })}`);
}
