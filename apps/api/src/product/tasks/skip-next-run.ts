import { occurrences, tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, taskNotFound } from '../../errors.ts';
import { recordEvents } from '../../platform/events/outbox.ts';
import { assertRevision, type ExpectedRevisions } from '../../platform/queries/revision.ts';
import { inTransaction } from '../../transaction.ts';
import { changedOverdueAt } from '../notifications/alerts/overdue.ts';
import { nextRun } from '../schedule/next-run.ts';
import { hasLiveRun } from './occurrences.ts';
import { type TaskRow, taskFields } from './read.ts';

interface SkipOptions {
  expected?: ExpectedRevisions;
  /** The only instant that may be skipped. Default: any. */
  plannedFor?: Date;
}

/**
 * The next planned run gets a ledger row and no execution; the task continues with the one after it, or is completed. The
 * lock of the task decides between this and a tick. Throws 404, 412, and 409 without a next run.
 */
export function skipNextRun(
  ctx: Context,
  caller: Caller,
  id: number,
  { expected = null, plannedFor }: SkipOptions = {},
) {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select(taskFields)
      .from(tasks)
      .where(and(eq(tasks.id, id), eq(tasks.userId, caller.id)))
      .for('no key update');
    if (!before) throw taskNotFound();
    assertRevision(before, expected);
    if (plannedFor && before.nextExecutionAt?.getTime() !== plannedFor.getTime()) {
      throw new AppError('conflict', 'This is no longer the next run.');
    }
    const occurrence = await recordSkip(tx, before);
    const task = await continueAfter(tx, before, occurrence.plannedFor);
    return { occurrence: { ...occurrence, executionId: null, startedAt: null, latenessMs: null }, task };
  });
}

async function recordSkip(tx: Context, task: TaskRow) {
  const recordedAt = tx.now();
  for (let at = task.nextExecutionAt; at !== null; at = nextRun(task, at)) {
    const row = { plannedFor: at, fate: 'skipped_by_user' as const, recordedAt };
    const inserted = await tx.db
      .insert(occurrences)
      .values({ taskId: task.id, ...row })
      .onConflictDoNothing()
      .returning({ taskId: occurrences.taskId });
    // An instant that is already in the ledger does not run anyway.
    if (inserted.length > 0) return row;
  }
  throw new AppError('conflict', 'The task has no next run to skip.');
}

async function continueAfter(tx: Context, before: TaskRow, skipped: Date): Promise<TaskRow> {
  const updatedAt = tx.now();
  const nextExecutionAt = nextRun(before, skipped);
  // The end of a live run completes a recurring task.
  const isOver = nextExecutionAt === null && (before.recurrence === 'once' || !(await hasLiveRun(tx, before)));
  const status = isOver ? 'completed' : before.status;
  const after = { ...before, nextExecutionAt, status, updatedAt };
  const changed = await tx.db
    .update(tasks)
    .set({ nextExecutionAt, status, updatedAt, overdueAt: changedOverdueAt(after) })
    .where(eq(tasks.id, before.id))
    .returning({ revision: tasks.revision });
  const { revision } = changed[0] as { revision: number };
  const changes = {
    nextExecutionAt: { from: before.nextExecutionAt, to: nextExecutionAt },
    ...(status === before.status ? {} : { status: { from: before.status, to: status } }),
  };
  const data = { task: { id: before.id, name: before.name, updatedAt }, changes };
  recordEvents(tx, [{ kind: 'task.updated', userId: before.userId, taskId: before.id, data }]);
  return { ...after, revision };
}
