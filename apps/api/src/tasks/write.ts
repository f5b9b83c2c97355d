import type { ChangeTaskInput, CreateTaskInput } from '@carillon/contract/tasks';
import { executions, settings, tasks, users } from '@carillon/db';
import { and, eq, isNull } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { invalidField } from '../errors.ts';
import { limitsOf } from '../limits/plans.ts';
import { overQuota } from '../limits/quotas.ts';
import { nextOccurrence, type Schedule } from '../schedule/recurrence.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { findAttachments } from './attachments.ts';
import { refuseTask, taskFields } from './read.ts';
import { assertAhead, readSchedule } from './schedule.ts';

const DEFAULT_MAX_TOKENS = 1024;
const DEFAULT_TEMPERATURE = 70;

/** Saves a task and returns its id. Refusals: a first run in the past (400), no place for an active task (402). */
export function createTask(ctx: Context, caller: Caller, input: CreateTaskInput): Promise<number> {
  const schedule = readSchedule(input);
  assertAhead(schedule, ctx.now());
  return inTransaction(ctx, async (tx) => {
    const { defaultModel } = await reserveActiveTask(tx, caller);
    const now = tx.now();
    const [task] = await tx.db
      .insert(tasks)
      .values({
        ...schedule,
        userId: caller.id,
        name: input.name,
        description: input.description ?? null,
        prompt: input.prompt,
        nextExecutionAt: schedule.scheduledFor,
        aiModel: input.aiModel ?? defaultModel,
        maxTokens: input.maxTokens ?? DEFAULT_MAX_TOKENS,
        temperature: input.temperature ?? DEFAULT_TEMPERATURE,
        attachmentIds: await findAttachments(tx, caller, input.attachments ?? []),
        createdAt: now,
        updatedAt: now,
      })
      .returning({ id: tasks.id });
    const { id } = task as { id: number };
    const { name, prompt } = input;
    const { recurrence, scheduledFor } = schedule;
    const data = { task: { id, name, prompt, recurrence, scheduledFor, status: 'active', createdAt: now } };
    await recordEvents(tx, [{ kind: 'task.created', userId: caller.id, data }]);
    return id;
  });
}

/**
 * Changes, pauses or resumes a task of the caller's. Resuming and changing the schedule compute the next run anew, from
 * now on: what fell due during a pause is not made up. A changed schedule also wakes a task that had ended. A `once`
 * task whose time has passed needs a new `scheduledFor` (400) (decisions §5).
 */
export function changeTask(ctx: Context, caller: Caller, id: number, input: ChangeTaskInput) {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select(taskFields)
      .from(tasks)
      .where(and(eq(tasks.id, id), eq(tasks.userId, caller.id)))
      .for('no key update');
    if (!before) return refuseTask();

    const { attachments, status: _status, scheduledFor: _scheduledFor, ...plain } = input;
    const changed = {
      ...plain,
      ...nextState(tx, before, input),
      ...(attachments ? { attachmentIds: await findAttachments(tx, caller, attachments) } : {}),
      updatedAt: tx.now(),
    };
    if (changed.status === 'active' && before.status !== 'active') await reserveActiveTask(tx, caller);
    if (changed.status === 'paused') await dropWaitingRetries(tx, id);
    const [after] = await tx.db.update(tasks).set(changed).where(eq(tasks.id, id)).returning(taskFields);
    if (!after) return refuseTask();
    const data = { task: { id, name: after.name, updatedAt: after.updatedAt }, changes: differences(before, after) };
    await recordEvents(tx, [{ kind: 'task.updated', userId: caller.id, data }]);
    return after;
  });
}

type TaskRow = { [F in keyof typeof taskFields]: (typeof tasks.$inferSelect)[F extends 'attachments' ? 'attachmentIds' : F] };

/** Schedule, status and next run after a change; empty when the change touches none of them. */
function nextState(ctx: Context, before: TaskRow, input: ChangeTaskInput) {
  const { scheduledFor, recurrence, recurrencePattern, timezone } = input;
  const reschedules = [scheduledFor, recurrence, recurrencePattern, timezone].some((given) => given !== undefined);
  const status = input.status ?? (reschedules && before.status !== 'paused' ? 'active' : before.status);
  const resumes = status === 'active' && before.status !== 'active';
  if (!reschedules && !resumes) return status === before.status ? {} : { status, nextExecutionAt: null };

  const schedule: Schedule = reschedules
    ? readSchedule({
        scheduledFor: scheduledFor ?? before.scheduledFor.toISOString(),
        recurrence: recurrence ?? before.recurrence,
        // A new word for the recurrence takes the place of a pattern.
        recurrencePattern:
          recurrencePattern === undefined && recurrence === undefined ? before.recurrencePattern : recurrencePattern,
        timezone: timezone ?? before.timezone,
      })
    : before;
  const now = ctx.now();
  if (scheduledFor !== undefined) assertAhead(schedule, now);
  const next = nextOccurrence(schedule, now);
  if (next === null) throw invalidField('scheduledFor', 'has passed: give a new one in the future');
  return {
    scheduledFor: schedule.scheduledFor,
    recurrence: schedule.recurrence,
    recurrencePattern: schedule.recurrencePattern,
    status,
    nextExecutionAt: status === 'active' ? next : null,
    ...(resumes ? { consecutiveFailures: 0 } : {}),
  };
}

/** A paused task starts nothing by itself, a retry that still waits for its time included. */
async function dropWaitingRetries(ctx: Context, taskId: number) {
  await ctx.db
    .delete(executions)
    .where(and(eq(executions.taskId, taskId), eq(executions.status, 'pending'), isNull(executions.queuedAt)));
}

/**
 * Makes sure that one more active task fits the caller's quota, and that no other transaction takes the same place:
 * the user's row stays locked until this one ends.
 */
async function reserveActiveTask(ctx: Context, caller: Caller) {
  const [state] = await ctx.db
    .select({
      plan: users.plan,
      role: users.role,
      maxTasksPerUser: settings.maxTasksPerUser,
      maxExecutionsPerDay: settings.maxExecutionsPerDay,
      defaultModel: settings.defaultModel,
    })
    .from(users)
    .crossJoin(settings)
    .where(eq(users.id, caller.id))
    .for('no key update', { of: users });
  if (!state) return refuseTask();
  // A statement of its own, begun after the lock was had: it sees what others have committed.
  const used = await ctx.db.$count(tasks, and(eq(tasks.userId, caller.id), eq(tasks.status, 'active')));
  const limit = limitsOf(state, state).activeTasks;
  if (used >= limit) throw overQuota({ resource: 'activeTasks', used, limit, resetAt: null });
  return state;
}

/** `changes` of `task.updated`: each changed field with its value before and after. */
function differences(before: TaskRow, after: TaskRow) {
  const fields = Object.keys(taskFields) as (keyof TaskRow)[];
  return Object.fromEntries(
    fields
      .filter((field) => field !== 'updatedAt' && JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map((field) => [field, { from: before[field], to: after[field] }]),
  );
}
