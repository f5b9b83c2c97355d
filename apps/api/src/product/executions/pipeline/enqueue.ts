import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { inTransaction } from '../../../transaction.ts';
import { alertOverdue, isAnyOverdue } from '../../notifications/alerts/overdue.ts';
import { lockDueRetries, lockDueTasks } from '../planning/due-tasks.ts';
import { computeDueOccurrences, planOccurrences } from '../planning/plan-occurrences.ts';
import { planBatch } from './plan-batch.ts';

const MAX_BATCH = 200;

export interface Enqueued {
  queued: number[];
  refused: number[];
}

interface Batch extends Enqueued {
  hasLooks: boolean;
  mayBeMore: boolean;
  /** Nothing was queued, because alerts come first. */
  areAlertsDue: boolean;
}

const NOTHING: Batch = { queued: [], refused: [], hasLooks: false, mayBeMore: false, areAlertsDue: false };

/**
 * Queues due tasks, with their ledger rows, and due retries; for tasks with sources, a look at them. Alerts first of overdue
 * tasks: a run that is queued now may end before the next call, and then nothing is overdue. Processes may call it
 * concurrently. Does nothing in maintenance mode.
 */
export async function enqueueDue(ctx: Context, { overdueMs = 0 } = {}): Promise<Enqueued> {
  const all: Enqueued = { queued: [], refused: [] };
  let alertsFirst = true;
  let mayBeMore = true;
  while (mayBeMore) {
    const dueBefore = new Date(ctx.now().getTime() - overdueMs);
    const batch = await inTransaction(ctx, (tx) => enqueueBatch(tx, dueBefore, alertsFirst));
    if (batch.areAlertsDue) await alertOverdue(ctx);
    alertsFirst = false;
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

async function enqueueBatch(ctx: Context, dueBefore: Date, alertsFirst: boolean): Promise<Batch> {
  const now = ctx.now();
  const [[alerts], tasks, retries] = await Promise.all([
    // If this commit is lost, the tasks are still due. Commits of starts and deliveries flush it.
    queryRows<{ areDue: boolean }>(
      ctx.db,
      sql`select set_config('synchronous_commit', 'off', true), ${isAnyOverdue(now)} as are_due`,
    ),
    lockDueTasks(ctx, dueBefore, MAX_BATCH),
    lockDueRetries(ctx, dueBefore, MAX_BATCH),
  ]);
  if (alertsFirst && alerts?.areDue) return { ...NOTHING, mayBeMore: true, areAlertsDue: true };
  if (tasks.length + retries.length === 0) return NOTHING;

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
    areAlertsDue: false,
  };
}
