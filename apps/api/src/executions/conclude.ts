import type { EventData } from '@carillon/contract/events';
import { recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { AiUsage } from '../ai/usage.ts';
import type { Context } from '../context.ts';
import { type Event, recordEvents } from '../events/outbox.ts';
import { notifyUsers } from '../notifications/notify.ts';
import { mailEnds } from './notify-owner.ts';
import type { Outcome } from './settle.ts';

/** A recurring task turns `failed` when so many executions in a row failed for good (decisions §5). */
const FAILURES_UNTIL_FAILED = 5;

/** An execution that has ended, with the state of its task, whose row is locked. */
export interface Ended {
  id: number;
  endedAt: Date;
  taskId: number;
  userId: number;
  trigger: 'schedule' | 'manual' | 'inbound' | 'retry';
  viaWebhook: boolean;
  plannedFor: Date | null;
  attempt: number;
  startedAt: Date | null;
  durationMs: number | null;
  usage: AiUsage | null;
  outcome: Outcome;
  taskName: string;
  notificationEmail: string | null;
  taskStatus: TaskStatus;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  /** Whether the task has a run ahead. */
  hasNext: boolean;
  consecutiveFailures: number;
}
type TaskStatus = 'active' | 'paused' | 'completed' | 'failed';

export interface Conclusion {
  ended: Ended;
  retryAt: Date | null;
  taskStatus: TaskStatus;
  consecutiveFailures: number;
}

/** What follows from executions that ended: retries, the state of their tasks, notifications and events. */
export async function concludeExecutions(ctx: Context, ended: readonly Ended[]): Promise<void> {
  if (ended.length === 0) return;
  const latest = new Map<number, Conclusion>();
  const conclusions = ended.map((one) => {
    // Of two that end together the second finds the task as the first has left it.
    const { taskStatus, consecutiveFailures } = latest.get(one.taskId) ?? one;
    const conclusion = conclude(ctx, { ...one, taskStatus, consecutiveFailures });
    latest.set(one.taskId, conclusion);
    return conclusion;
  });
  // One connection runs them in this order; sent together they cost one round trip.
  await Promise.all([
    scheduleRetries(ctx, conclusions),
    changeTasks(ctx, [...latest.values()]),
    markOverQuota(ctx, ended),
    notifyOwners(ctx, conclusions),
    mailEnds(ctx, conclusions),
    recordEvents(ctx, conclusions.flatMap(eventsOf)),
  ]);
}

function conclude(ctx: Context, ended: Ended): Conclusion {
  const { outcome, recurrence, hasNext, plannedFor, taskStatus, consecutiveFailures } = ended;
  // The run that a `once` task exists for, and none of those that somebody started by hand.
  const lastOne = recurrence === 'once' && !hasNext && (plannedFor !== null || taskStatus === 'failed');
  if (outcome.ok) {
    return { ended, retryAt: null, consecutiveFailures: 0, taskStatus: lastOne ? 'completed' : taskStatus };
  }
  const retryAt = retryTime(ctx, ended);
  if (retryAt) return { ended, retryAt, taskStatus, consecutiveFailures };
  const failures = consecutiveFailures + 1;
  const worn = taskStatus === 'active' && recurrence !== 'once' && failures >= FAILURES_UNTIL_FAILED;
  return { ended, retryAt, consecutiveFailures: failures, taskStatus: lastOne || worn ? 'failed' : taskStatus };
}

function retryTime(ctx: Context, { endedAt, outcome, attempt, taskStatus }: Ended): Date | null {
  const wait = ctx.config.executionRetryDelaysMs[attempt - 1];
  if (outcome.ok || !outcome.retryable || wait === undefined || taskStatus === 'paused') return null;
  return new Date(endedAt.getTime() + Math.max(wait, outcome.retryAfterMs ?? 0));
}

async function scheduleRetries(ctx: Context, conclusions: readonly Conclusion[]) {
  const retries = conclusions.flatMap(({ ended, retryAt }) =>
    retryAt
      ? [
          {
            task: ended.taskId,
            user: ended.userId,
            planned: ended.plannedFor,
            attempt: ended.attempt + 1,
            of: ended.id,
            via: ended.viaWebhook,
            at: retryAt,
            created: ended.endedAt,
          },
        ]
      : [],
  );
  if (retries.length === 0) return;
  await ctx.db.execute(sql`
    insert into executions (task_id, user_id, status, trigger, planned_for, attempt, retry_of_id, via_webhook,
      run_at, created_at)
    select task, "user", 'pending', 'retry', planned, attempt, "of", via, at, created
    from jsonb_to_recordset(${recordset(retries)}::jsonb)
      as r(task int, "user" int, planned timestamptz, attempt int, "of" int, via boolean, at timestamptz,
        created timestamptz)`);
}

async function changeTasks(ctx: Context, conclusions: readonly Conclusion[]) {
  const changes = conclusions.map(({ ended, taskStatus, consecutiveFailures }) => ({
    id: ended.taskId,
    status: taskStatus,
    failures: consecutiveFailures,
    ms: ended.outcome.ok && ended.durationMs !== null ? Math.round(ended.durationMs) : null,
  }));
  await ctx.db.execute(sql`
    update tasks t set status = c.status, consecutive_failures = c.failures,
      last_duration_ms = coalesce(c.ms, t.last_duration_ms),
      next_execution_at = case when c.status = 'active' then t.next_execution_at end
    from jsonb_to_recordset(${recordset(changes)}::jsonb) as c(id int, status text, failures int, ms int)
    where t.id = c.id`);
}

/** A planned run that its quota refused only when it was to start: the ledger says so too. */
async function markOverQuota(ctx: Context, ended: readonly Ended[]) {
  const refused = ended
    .filter((one) => !one.outcome.ok && one.startedAt === null && one.trigger === 'schedule')
    .map((one) => ({ task: one.taskId, planned: one.plannedFor }));
  if (refused.length === 0) return;
  await ctx.db.execute(sql`
    update occurrences o set fate = 'over_quota'
    from jsonb_to_recordset(${recordset(refused)}::jsonb) as r(task int, planned timestamptz)
    where o.task_id = r.task and o.planned_for = r.planned`);
}

function notifyOwners(ctx: Context, conclusions: readonly Conclusion[]) {
  const failed = conclusions.filter(
    ({ ended, taskStatus }) => taskStatus === 'failed' && ended.taskStatus !== 'failed',
  );
  return notifyUsers(
    ctx,
    failed.map(({ ended }) => ({
      userId: ended.userId,
      kind: 'task.failed',
      title: `Task "${ended.taskName}" failed`,
      message: `It will not run again until you resume it. Last error: ${ended.outcome.ok ? '' : ended.outcome.message}`,
    })),
  );
}

function eventsOf({ ended, retryAt, taskStatus }: Conclusion): Event[] {
  const { id, userId, viaWebhook, taskId, taskName, outcome, startedAt, endedAt, durationMs } = ended;
  const task = { id: taskId, name: taskName, status: taskStatus };
  const processingTimeMs = durationMs === null ? null : Math.round(durationMs);
  if (outcome.ok) {
    const input = ended.usage?.inputTokens ?? 0;
    const output = ended.usage?.outputTokens ?? 0;
    const data: EventData<'task.completed'> = {
      task,
      execution: {
        id,
        status: 'completed',
        result: outcome.text,
        tokensUsed: { input, output, total: input + output },
        processingTimeMs: processingTimeMs ?? 0,
        startedAt: (startedAt ?? endedAt).toISOString(),
        completedAt: endedAt.toISOString(),
      },
    };
    return [
      { kind: 'task.completed', userId, taskId, viaWebhook, data },
      { kind: 'execution.completed', userId, taskId, viaWebhook, data },
    ];
  }
  const data: EventData<'task.failed'> = {
    task,
    execution: {
      id,
      status: 'failed',
      error: outcome.message,
      errorCode: outcome.errorCode,
      startedAt: startedAt?.toISOString() ?? null,
      failedAt: endedAt.toISOString(),
      processingTimeMs,
    },
    retryScheduled: retryAt !== null,
    nextRetryAt: retryAt?.toISOString() ?? null,
  };
  return [
    { kind: 'task.failed', userId, taskId, viaWebhook, data },
    { kind: 'execution.failed', userId, taskId, viaWebhook, data },
  ];
}
