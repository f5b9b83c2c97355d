import type { EventData } from '@carillon/contract/webhooks/events';
import { recordset } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { Event } from '../../../platform/events/outbox.ts';
import { overdueAtSql } from '../../notifications/alerts/overdue.ts';
import type { NewAlert } from '../../notifications/alerts/record.ts';
import { notifyUsers } from '../../notifications/write.ts';
import { addMonthCost, type MonthCost } from '../budget/costs.ts';
import { digestText, isWanted } from '../result/last-success.ts';
import { type CompletedExecution, getLastCall, getTotalUsd, isCancelled, type TaskStatus } from './execution-result.ts';

/** What the end of an execution means for its task. */
export interface FollowUp {
  completed: CompletedExecution;
  retryAt: Date | null;
  taskStatus: TaskStatus;
  consecutiveFailures: number;
  waitingFailures: number;
  notDoneInRow: number;
  fallbacksInRow: number;
  alertingSince: Date | null;
  isFailingAlerted: boolean;
  alerts: NewAlert[];
}

export async function insertUsageRecords({ db }: Context, billed: readonly CompletedExecution[]) {
  if (billed.length === 0) return;
  const records = billed.map(({ id, userId, usageDay, completedAt, result }) => ({
    userId,
    executionId: id,
    day: usageDay,
    at: completedAt,
    ...toLedgerCall(getLastCall(result)),
  }));
  await db.execute(sql`
    insert into usage_records (user_id, execution_id, source, day, executions, model, provider, input_tokens, output_tokens,
      estimated, cost_usd, tool_uses, tool_cost_usd, created_at)
    select user_id, execution_id, source, day, 1, model, provider, input, output, estimated, cost, tool_uses, tool_cost, at
    from ${recordset('r', records, {
      userId: 'int',
      executionId: 'int',
      source: 'text',
      day: 'date',
      model: 'text',
      provider: 'text',
      input: 'int',
      output: 'int',
      estimated: 'boolean',
      cost: 'float8',
      toolUses: 'int',
      toolCost: 'float8',
      at: 'timestamptz',
    })}`);
}

const toLedgerCall = ({ source, usage }: ReturnType<typeof getLastCall>) => ({
  source,
  model: usage?.model ?? null,
  provider: usage?.provider ?? null,
  input: usage?.inputTokens ?? 0,
  output: usage?.outputTokens ?? 0,
  estimated: usage?.estimated ?? false,
  cost: usage?.costUsd ?? 0,
  toolUses: usage?.toolUses ?? 0,
  toolCost: usage?.toolCostUsd ?? 0,
});

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
      case when via_webhook then (select inbound_data from past_execution(r.retry_of_id, r.task_id)) end, run_at, created_at
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

/** Of several ends of a task, the last one has its state. */
export async function updateTasks(
  { db, now }: Context,
  followUps: readonly FollowUp[],
  costs: ReadonlyMap<number, MonthCost>,
) {
  const lastOfTask = new Map(followUps.map((followUp) => [followUp.completed.taskId, followUp]));
  const changes = [...lastOfTask.values()].map(
    ({ completed, taskStatus, consecutiveFailures, waitingFailures, ...followUp }) => {
      const { id, taskId, result } = completed;
      const cost = costs.get(taskId);
      return {
        id: taskId,
        status: taskStatus,
        failures: consecutiveFailures,
        waiting: waitingFailures,
        notDone: followUp.notDoneInRow,
        fallbacks: followUp.fallbacksInRow,
        ms: result.ok && result.durationMs !== null ? Math.round(result.durationMs) : null,
        success: result.ok ? id : null,
        at: completed.completedAt,
        digest: result.ok ? digestText(result.text) : null,
        usd: result.ok ? getTotalUsd(result) : null,
        month: cost?.month ?? null,
        cost: cost?.usd ?? 0,
        alertingSince: followUp.alertingSince,
        isFailingAlerted: followUp.isFailingAlerted,
      };
    },
  );
  await db.execute(sql`
    update tasks t set status = c.status, consecutive_failures = c.failures, waiting_failures = c.waiting,
      not_done_in_row = c.not_done, fallbacks_in_row = c.fallbacks,
      last_duration_ms = coalesce(c.ms, t.last_duration_ms),
      last_success_id = coalesce(c.success, t.last_success_id),
      last_success_at = case when c.success is null then t.last_success_at else c.at end,
      last_success_digest = coalesce(c.digest, t.last_success_digest),
      last_success_cost_usd = coalesce(c.usd, t.last_success_cost_usd),
      ${addMonthCost(sql`c.month`, sql`c.cost`)},
      next_execution_at = case when c.status = 'active' then t.next_execution_at end,
      overdue_at = case when c.status = 'active' then ${overdueAtSql(sql`t`, sql`t.next_execution_at`, now())} end,
      alerting_since = c.alerting_since, is_failing_alerted = c.is_failing_alerted
    from ${recordset('c', changes, {
      id: 'int',
      status: 'text',
      failures: 'int',
      waiting: 'int',
      notDone: 'int',
      fallbacks: 'int',
      ms: 'int',
      success: 'int',
      at: 'timestamptz',
      digest: 'text',
      usd: 'float8',
      month: 'text',
      cost: 'float8',
      alertingSince: 'timestamptz',
      isFailingAlerted: 'boolean',
    })}
    where t.id = c.id`);
}

/** A separate statement: naming the column increases the revision of every task that the statement updates. */
export async function markUpdated({ db }: Context, followUps: readonly FollowUp[]) {
  const changed = followUps
    .filter(({ completed, taskStatus }) => taskStatus !== completed.taskStatus)
    .map(({ completed }) => ({ id: completed.taskId, at: completed.completedAt }));
  if (changed.length === 0) return;
  await db.execute(sql`
    update tasks t set updated_at = greatest(t.updated_at, c.at)
    from ${recordset('c', changed, { id: 'int', at: 'timestamptz' })} where t.id = c.id`);
}

export function notifyOwners(tx: Context, followUps: readonly FollowUp[]) {
  const failed = followUps.filter(
    ({ completed, taskStatus, alerts }) =>
      taskStatus === 'failed' &&
      completed.taskStatus !== 'failed' &&
      !isCancelled(completed.result) &&
      !alerts.some((alert) => alert.kind === 'task.failing' && alert.data.stopped),
  );
  return notifyUsers(
    tx,
    failed.map(({ completed: { id, userId, owner, taskName, result } }) => {
      const { notices } = getTexts(owner.language);
      const message = notices.stoppedText(result.ok ? '' : result.message);
      return { userId, kind: 'task.failed', title: notices.failed(taskName, 1), message, path: `/executions/${id}` };
    }),
  );
}

/** The events of the end of an execution. */
export function buildEvents({ completed, retryAt, taskStatus, alerts }: FollowUp): Event[] {
  const { id, userId, viaWebhook, taskId, taskName, result, startedAt, completedAt, reportsChanges, hasTools } =
    completed;
  const task = { id: taskId, name: taskName, status: taskStatus };
  const processingTimeMs = result.durationMs === null ? null : Math.round(result.durationMs);
  if (result.ok) {
    const input = result.usage?.inputTokens ?? 0;
    const output = result.usage?.outputTokens ?? 0;
    const { comparison } = result;
    const difference = comparison && { changed: comparison.changed, changes: comparison.changes };
    const build = (reported: typeof difference): EventData<'task.completed'> => ({
      task,
      execution: {
        id,
        status: 'completed',
        result: result.text,
        tokensUsed: { input, output, total: input + output },
        processingTimeMs: processingTimeMs ?? 0,
        startedAt: (startedAt ?? completedAt).toISOString(),
        completedAt: completedAt.toISOString(),
        ...(hasTools && { citations: result.citations ?? [], toolUses: result.usage?.toolUses ?? 0 }),
        ...(result.output !== null && { output: result.output }),
        ...(result.outcome !== null && { outcome: result.outcome }),
        ...(result.outcomeReason !== null && { outcomeReason: result.outcomeReason }),
        ...reported,
      },
    });
    const data = build(reportsChanges ? difference : null);
    const event = { userId, taskId, viaWebhook, skipsTaskWebhook: !isWanted(completed), isCut: result.isCut === true };
    const completions = (['task.completed', 'execution.completed'] as const).map((kind) => ({ ...event, kind, data }));
    if (!difference?.changed) return completions;
    return [...completions, { ...event, kind: 'task.changed', data: reportsChanges ? data : build(difference) }];
  }
  const data: EventData<'task.failed'> = {
    task,
    execution: {
      id,
      status: 'failed',
      error: result.message,
      errorCode: result.errorCode,
      startedAt: startedAt?.toISOString() ?? null,
      failedAt: completedAt.toISOString(),
      processingTimeMs,
    },
    retryScheduled: retryAt !== null,
    nextRetryAt: retryAt?.toISOString() ?? null,
  };
  // An alert of this failure tells the channels of the task the same, and more.
  const isAlerted = !viaWebhook && alerts.some(({ kind }) => kind === 'task.failing');
  const skipsChannels = retryAt !== null || isCancelled(result) || isAlerted;
  return [
    { kind: 'task.failed', userId, taskId, viaWebhook, data, skipsChannels },
    { kind: 'execution.failed', userId, taskId, viaWebhook, data, skipsChannels },
  ];
}
