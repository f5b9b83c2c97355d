import { tasks, uploads } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { taskNotFound } from '../errors.ts';
import { recordEvents } from '../events/outbox.ts';
import { nextOccurrence } from '../schedule/recurrence.ts';
import { setTaskWebhook } from '../webhooks/managed-webhooks.ts';
import { reserveActiveTask } from './active-quota.ts';
import { type TaskRow, taskFields } from './read.ts';

/** Code points of a task's name (specification "Input limits"). */
const LONGEST_NAME = 100;
const SUFFIX = ' (copy)';

/**
 * Makes a copy of a task of the caller's, with all that its owner has set and nothing of what it has done, and returns
 * it (specification "Server actions"). The copy of an active task goes on with the next future run; where there is
 * none, or the task is not active, the copy is paused. Refusals: 404, and 402 where an active copy finds no place.
 */
export function duplicateTask(
  ctx: Context,
  caller: Caller,
  taskId: number,
  { name }: { name?: string } = {},
): Promise<TaskRow> {
  return inTransaction(ctx, async (tx) => {
    const [original] = await tx.db
      .select()
      .from(tasks)
      .where(and(eq(tasks.id, taskId), eq(tasks.userId, caller.id)));
    if (!original) throw taskNotFound();

    const now = tx.now();
    const next = original.status === 'active' ? nextOccurrence(original, now) : null;
    if (next !== null) await reserveActiveTask(tx, caller);
    const attachmentIds = await keepAttachments(tx, caller, original.attachmentIds);
    const { description, prompt, scheduledFor, recurrence, recurrencePattern, timezone } = original;
    const { aiModel, maxTokens, temperature, webhookUrl, notificationEmail } = original;
    const [made] = await tx.db
      .insert(tasks)
      .values({
        userId: caller.id,
        name: name ?? nameOfCopy(original.name),
        description,
        prompt,
        scheduledFor,
        nextExecutionAt: next,
        recurrence,
        recurrencePattern,
        timezone,
        aiModel,
        maxTokens,
        temperature,
        status: next === null ? 'paused' : 'active',
        attachmentIds,
        webhookUrl,
        notificationEmail,
        createdAt: now,
        updatedAt: now,
      })
      .returning(taskFields);
    const copy = made as TaskRow;
    const { id, status, createdAt } = copy;
    if (webhookUrl !== null) await setTaskWebhook(tx, { userId: caller.id, taskId: id, url: webhookUrl });
    const data = { task: { id, name: copy.name, prompt, recurrence, scheduledFor, status, createdAt } };
    await recordEvents(tx, [{ kind: 'task.created', userId: caller.id, taskId: id, data }]);
    return copy;
  });
}

function nameOfCopy(name: string): string {
  const kept = [...name].slice(0, LONGEST_NAME - SUFFIX.length).join('');
  return `${kept.trimEnd()}${SUFFIX}`;
}

/** Those of the files that are still there, locked: none is deleted before the copy that holds it can be seen. */
async function keepAttachments(ctx: Context, caller: Caller, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const found = await ctx.db
    .select({ id: uploads.id })
    .from(uploads)
    .where(and(eq(uploads.userId, caller.id), inArray(uploads.id, [...ids])))
    .orderBy(uploads.id)
    .for('key share');
  return ids.filter((id) => found.some((upload) => upload.id === id));
}
