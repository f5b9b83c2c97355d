import { queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../context.ts';
import { admitExecution, lockAccounts, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../limits/quotas.ts';
import { type Due, dueOccurrences, INSTANTS_AT_ONCE } from '../schedule/due.ts';
import { recordUsage } from '../usage/record.ts';
import { type DueTask, findDueTasks, type Plan, writePlans } from './due-tasks.ts';
import { findDueRetries, queueRetries } from './retries.ts';
import { refuseExecutions } from './settle.ts';

/** Tasks, and retries, that one transaction takes up. */
const BATCH = 200;
/** A run that starts later than this after its planned instant is `late` in the ledger. */
export const LATE_AFTER_MS = 5000;
/** When a task whose next run cannot be computed is looked at again. */
const UNSCHEDULABLE_PAUSE_MS = 24 * 60 * 60 * 1000;

/** What a look at the queue did: the executions that may start now, and those that ended at once, over quota. */
export interface Enqueued {
  queued: number[];
  refused: number[];
}

/**
 * Takes up all that fell due at least `overdueMs` ago: tasks, each with its ledger rows, and retries whose wait is
 * over. Any number of processes may do so at once; a task is taken by one of them (decisions §5 and §6).
 * Nothing is taken up in maintenance mode: what is due stays due.
 */
export async function enqueueDue(ctx: Context, { overdueMs = 0 } = {}): Promise<Enqueued> {
  const all: Enqueued = { queued: [], refused: [] };
  let mayBeMore: boolean;
  do {
    const dueBefore = new Date(ctx.now().getTime() - overdueMs);
    const batch = await inTransaction(ctx, (tx) => takeUp(tx, dueBefore));
    all.queued.push(...batch.queued);
    all.refused.push(...batch.refused);
    for (const id of batch.queued) ctx.trace.mark(`execution ${id}`);
    if (batch.queued.length > 0) ctx.worker.wakeExecutions();
    mayBeMore = batch.mayBeMore;
  } while (mayBeMore);
  return all;
}

async function takeUp(ctx: Context, dueBefore: Date): Promise<Enqueued & { mayBeMore: boolean }> {
  const [, tasks, retries] = await Promise.all([
    // Its commit need not reach the disk by itself: what comes of it, the start of a run or a delivery, is committed
    // after it and waits for both. A power cut before that leaves due what was due.
    ctx.db.execute(sql`set local synchronous_commit to off`),
    findDueTasks(ctx, dueBefore, BATCH),
    findDueRetries(ctx, dueBefore, BATCH),
  ]);
  if (tasks.length + retries.length === 0) return { queued: [], refused: [], mayBeMore: false };

  const now = ctx.now();
  const { looked, isCut } = lookAt(ctx, tasks, now);
  const userIds = [...looked.map(({ task }) => task), ...retries].map(({ userId }) => userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const plans = looked.map(({ task, due }) => planTask(task, due, accounts.get(task.userId) as QuotaAccount, now));
  const [runs, retried] = await Promise.all([writePlans(ctx, plans, now), queueRetries(ctx, retries, accounts, now)]);

  // Counted from the rows that were really made: an instant that the ledger already knew makes none.
  const queued = [...runs.filter((run) => run.queued), ...retried.queued];
  const day = toUtcDay(now);
  await recordUsage(
    ctx,
    queued.map(({ userId }) => ({ userId, day, executions: 1 })),
  );
  const breaches = new Map(plans.map(({ task, run }) => [task.id, run?.breach]));
  const overQuota = runs.filter((run) => !run.queued);
  const refused = [
    ...overQuota.map(({ id, taskId }) => ({ id, breach: breaches.get(taskId) as QuotaExceeded })),
    ...retried.refused,
  ];
  await refuseExecutions(ctx, refused);
  return {
    queued: queued.map(({ id }) => id),
    refused: refused.map(({ id }) => id),
    mayBeMore: isCut || tasks.length === BATCH || retries.length === BATCH,
  };
}

/** What has fallen due of the tasks, until `INSTANTS_AT_ONCE` are reached: the tasks after that stay as they are. */
function lookAt(ctx: Context, tasks: readonly DueTask[], now: Date) {
  const looked: { task: DueTask; due: Due }[] = [];
  let room = INSTANTS_AT_ONCE;
  for (const task of tasks) {
    if (room <= 0) break;
    const due = dueOf(ctx, task, now, room);
    room -= due.missed.length + 1;
    looked.push({ task, due });
  }
  return { looked, isCut: room <= 0 };
}

function dueOf(ctx: Context, task: DueTask, now: Date, atMost: number): Due {
  const from = toInstant(task.nextExecutionAt);
  try {
    const due = dueOccurrences({ ...task, scheduledFor: toInstant(task.scheduledFor) }, from, now, atMost);
    if (due.next === null && task.recurrence !== 'once') throw new Error('The schedule has no next run.');
    return due;
  } catch (error) {
    // One task that cannot be computed must neither stop the others nor be looked at in every tick.
    ctx.log.error({ err: error, taskId: task.id }, 'next run of a task cannot be computed');
    return { missed: [], latest: from, next: new Date(now.getTime() + UNSCHEDULABLE_PAUSE_MS) };
  }
}

function planTask(task: DueTask, due: Due, account: QuotaAccount, now: Date): Plan {
  // The tasks of a deactivated account rest: whoever activates it again computes their next run anew.
  if (!account.isActive) return { task, ledger: [], run: null, next: null };
  const ledger: Plan['ledger'] = due.missed.map((at) => ({ at, fate: 'missed' }));
  if (due.latest === null) return { task, ledger, run: null, next: due.next };

  const at = due.latest;
  if (task.busy) {
    ledger.push({ at, fate: 'skipped_overlap' });
    return { task, ledger, run: null, next: due.next };
  }
  const breach = admitExecution(account, now);
  const late = now.getTime() - at.getTime() > LATE_AFTER_MS;
  ledger.push({ at, fate: breach ? 'over_quota' : late ? 'late' : 'ran' });
  return { task, ledger, run: { at, breach }, next: due.next };
}

/**
 * The instant at which something falls due next, in milliseconds precise; null when nothing is planned. Lets the
 * scheduler wake on time rather than at its next interval (decisions §6).
 */
export async function findNextDue(ctx: Context): Promise<Date | null> {
  const [row] = await queryRows<{ at: string | null }>(
    ctx.db,
    sql`
    select least(
      (select min(next_execution_at) from tasks where next_execution_at is not null),
      (select min(run_at) from executions where status = 'pending' and queued_at is null)
    ) as at`,
  );
  return toInstantOrNull(row?.at ?? null);
}
