import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { inTransaction } from '../../../transaction.ts';
import { lockDueRetries, lockDueTasks } from '../planning/due-tasks.ts';
import { computeDueOccurrences, planOccurrences } from '../planning/plan-occurrences.ts';
import { planBatch } from './plan-batch.ts';

const MAX_BATCH = 200;

export interface Enqueued {
  queued: number[];
  refused: number[];
}

/**
 * Queues due tasks, with their ledger rows, and due retries; for tasks with sources, a look at them. Processes may call it
 * concurrently. Does nothing in maintenance mode.
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
    if (batch.hasLooks) ctx.worker.wakeLooks();
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

async function enqueueBatch(
  ctx: Context,
  dueBefore: Date,
): Promise<Enqueued & { hasLooks: boolean; mayBeMore: boolean }> {
  const [, tasks, retries] = await Promise.all([
    // If this commit is lost, the tasks are still due. Commits of starts and deliveries flush it.
    queryRows(ctx.db, sql`set local synchronous_commit to off`),
    lockDueTasks(ctx, dueBefore, MAX_BATCH),
    lockDueRetries(ctx, dueBefore, MAX_BATCH),
  ]);
  if (tasks.length + retries.length === 0) return { queued: [], refused: [], hasLooks: false, mayBeMore: false };

  const now = ctx.now();
  const { due, isCut } = computeDueOccurrences(ctx, tasks, now);
  const { queued, refused, plans } = await planBatch(ctx, {
    due: due.map(({ task, occurrences }) => ({ task, plan: (limits) => planOccurrences(task, occurrences, limits) })),
    retries,
    now,
  });
  return {
    queued: queued.map(({ id }) => id),
    refused: refused.map(({ id }) => id),
    hasLooks: plans.some(({ looks }) => looks.length > 0),
    mayBeMore: isCut || tasks.length === MAX_BATCH || retries.length === MAX_BATCH,
  };
}
