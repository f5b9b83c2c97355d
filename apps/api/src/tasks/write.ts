import type { ChangeTaskInput, CreateTaskInput } from '@carillon/contract/tasks';
import { executions, occurrences, tasks } from '@carillon/db';
import { and, eq, isNull } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { taskNotFound } from '../errors.ts';
import { recordEvents } from '../events/outbox.ts';
import { normalizeEmail } from '../mail/address.ts';
import { dueOccurrences } from '../schedule/due.ts';
import { getSettings } from '../settings/read.ts';
import { findAttachments } from '../uploads/attachments.ts';
import { assertReachable } from '../webhooks/address.ts';
import { setTaskWebhook } from '../webhooks/managed-webhooks.ts';
import { reserveActiveTask } from './active-quota.ts';
import { type TaskRow, taskFields } from './read.ts';
import { assertAhead, readSchedule } from './schedule.ts';
import { nextState } from './state.ts';

const DEFAULT_MAX_TOKENS = 1024;
const DEFAULT_TEMPERATURE = 70;

/**
 * Saves a task and returns its id. One that begins paused has no next run and takes no place of an active task.
 * Refusals: a first run in the past, a `webhookUrl` that may not be reached (400), no place for an active task (402).
 */
export function createTask(ctx: Context, caller: Caller, input: CreateTaskInput): Promise<number> {
  const schedule = readSchedule(input);
  assertAhead(schedule, ctx.now());
  const { status = 'active', webhookUrl = null } = input;
  if (webhookUrl !== null) assertReachable(ctx, 'webhookUrl', webhookUrl);
  return inTransaction(ctx, async (tx) => {
    const attachmentIds = await findAttachments(tx, caller, input.attachments ?? []);
    const { defaultModel } = status === 'active' ? await reserveActiveTask(tx, caller) : await getSettings(tx);
    const now = tx.now();
    const [task] = await tx.db
      .insert(tasks)
      .values({
        ...schedule,
        userId: caller.id,
        name: input.name,
        description: input.description ?? null,
        prompt: input.prompt,
        status,
        nextExecutionAt: status === 'active' ? schedule.scheduledFor : null,
        aiModel: input.aiModel ?? defaultModel,
        maxTokens: input.maxTokens ?? DEFAULT_MAX_TOKENS,
        temperature: input.temperature ?? DEFAULT_TEMPERATURE,
        attachmentIds,
        webhookUrl,
        notificationEmail: kept(input.notificationEmail ?? null),
        createdAt: now,
        updatedAt: now,
      })
      .returning({ id: tasks.id });
    const { id } = task as { id: number };
    if (webhookUrl !== null) await setTaskWebhook(tx, { userId: caller.id, taskId: id, url: webhookUrl });
    const { name, prompt } = input;
    const { recurrence, scheduledFor } = schedule;
    const data = { task: { id, name, prompt, recurrence, scheduledFor, status, createdAt: now } };
    await recordEvents(tx, [{ kind: 'task.created', userId: caller.id, taskId: id, data }]);
    return id;
  });
}

/**
 * Changes, pauses or resumes a task of the caller's (decisions §5); `nextState` says what that does to its runs. A
 * change that leaves everything as it was is none: it is neither dated nor told. Refusals: 400, 404, and 402 where the
 * task turns active without a place for it.
 */
export function changeTask(ctx: Context, caller: Caller, id: number, input: ChangeTaskInput): Promise<TaskRow> {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select(taskFields)
      .from(tasks)
      .where(and(eq(tasks.id, id), eq(tasks.userId, caller.id)))
      .for('no key update');
    if (!before) throw taskNotFound();

    const now = tx.now();
    const after: TaskRow = {
      ...before,
      name: input.name ?? before.name,
      description: input.description === undefined ? before.description : input.description,
      prompt: input.prompt ?? before.prompt,
      aiModel: input.aiModel ?? before.aiModel,
      maxTokens: input.maxTokens ?? before.maxTokens,
      temperature: input.temperature ?? before.temperature,
      attachments: input.attachments ? await findAttachments(tx, caller, input.attachments) : before.attachments,
      webhookUrl: input.webhookUrl === undefined ? before.webhookUrl : input.webhookUrl,
      notificationEmail:
        input.notificationEmail === undefined ? before.notificationEmail : kept(input.notificationEmail),
      ...nextState(before, input, now),
    };
    const changes = differences(before, after);
    if (Object.keys(changes).length === 0) return before;

    const resumed = after.status === 'active' && before.status !== 'active';
    if (resumed) await reserveActiveTask(tx, caller);
    if (after.status === 'paused') await dropWaitingRetries(tx, id);
    if ('nextExecutionAt' in changes) await markMissed(tx, before, now);
    const { id: _id, attachments: attachmentIds, ...columns } = { ...after, updatedAt: now };
    await tx.db
      .update(tasks)
      .set({ ...columns, attachmentIds, ...(resumed ? { consecutiveFailures: 0 } : {}) })
      .where(eq(tasks.id, id));
    if ('webhookUrl' in changes) await changeTaskWebhook(tx, after);
    const data = { task: { id, name: after.name, updatedAt: now }, changes };
    await recordEvents(tx, [{ kind: 'task.updated', userId: caller.id, taskId: id, data }]);
    return { ...after, updatedAt: now };
  });
}

/** `changes` of `task.updated`: each changed field with its value before and after. */
function differences(before: TaskRow, after: TaskRow) {
  const fields = Object.keys(before) as (keyof TaskRow)[];
  return Object.fromEntries(
    fields
      .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map((field) => [field, { from: before[field], to: after[field] }]),
  );
}

const kept = (address: string | null) => (address === null ? null : normalizeEmail(address));

async function changeTaskWebhook(ctx: Context, { id: taskId, userId, webhookUrl: url }: TaskRow) {
  if (url !== null) assertReachable(ctx, 'webhookUrl', url);
  await setTaskWebhook(ctx, { userId, taskId, url });
}

/** A paused task starts nothing by itself, a retry that still waits for its time included. */
async function dropWaitingRetries(ctx: Context, taskId: number) {
  await ctx.db
    .delete(executions)
    .where(and(eq(executions.taskId, taskId), eq(executions.status, 'pending'), isNull(executions.queuedAt)));
}

/** Every planned instant leaves a row in the ledger: also what fell due and, by this change, is never taken up. */
export async function markMissed(ctx: Context, task: TaskRow, now: Date) {
  let from = task.nextExecutionAt;
  while (from !== null && from <= now) {
    const { missed, latest, next } = dueOccurrences(task, from, now);
    const planned = latest === null ? missed : [...missed, latest];
    await ctx.db
      .insert(occurrences)
      .values(planned.map((plannedFor) => ({ taskId: task.id, plannedFor, fate: 'missed' as const, recordedAt: now })))
      .onConflictDoNothing();
    from = next;
  }
}
