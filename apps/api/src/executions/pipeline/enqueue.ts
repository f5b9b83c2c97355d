import { queryRows, recordset, toInstant, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../../context.ts';
import { admitExecution, lockAccounts, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../../limits/quotas.ts';
import { type DueOccurrences, listDueOccurrences, MAX_DUE_OCCURRENCES } from '../../schedule/due.ts';
import type { Schedule } from '../../schedule/recurrence.ts';
import { recordUsage } from '../../usage/record.ts';
import { failOverQuota } from './complete.ts';

const MAX_BATCH = 200;
/** Later starts are `late` in the ledger. */
export const LATE_AFTER_MS = 5000;
/** The retry interval for a task whose next occurrence cannot be computed. */
const UNSCHEDULABLE_PAUSE_MS = 24 * 60 * 60 * 1000;

export interface Enqueued {
  queued: number[];
  refused: number[];
}

interface DueTask extends Omit<Schedule, 'scheduledFor'> {
  id: number;
  userId: number;
  scheduledFor: string;
  nextExecutionAt: string;
  isBusy: boolean;
}

interface DueRetry {
  id: number;
  userId: number;
}

interface PlannedOccurrence {
  task: DueTask;
  ledger: { at: Date; fate: 'ran' | 'late' | 'skipped_overlap' | 'missed' | 'over_quota' }[];
  run: { at: Date; exceeded: QuotaExceeded | null } | null;
  nextExecutionAt: Date | null;
}

/**
 * Queues due tasks, with their ledger rows, and due retries. Processes may call it concurrently. Does nothing in
 * maintenance mode.
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
      (select min(run_at) from executions where status = 'pending' and queued_at is null)
    ) as at`,
  );
  return toInstantOrNull(row?.at ?? null);
}

async function enqueueBatch(ctx: Context, dueBefore: Date): Promise<Enqueued & { mayBeMore: boolean }> {
  const [, tasks, retries] = await Promise.all([
    // If this commit is lost, the tasks are still due. Commits of starts and deliveries flush it.
    queryRows(ctx.db, sql`set local synchronous_commit to off`),
    lockDueTasks(ctx, dueBefore),
    lockDueRetries(ctx, dueBefore),
  ]);
  if (tasks.length + retries.length === 0) return { queued: [], refused: [], mayBeMore: false };

  const now = ctx.now();
  const { due, isCut } = computeDueOccurrences(ctx, tasks, now);
  const userIds = [...due.map(({ task }) => task), ...retries].map(({ userId }) => userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const planned = due.map(({ task, occurrences }) =>
    planOccurrence(task, occurrences, accounts.get(task.userId) as QuotaAccount, now),
  );
  const admitted = admitRetries(retries, accounts, now);
  const [inserted] = await Promise.all([insertPlanned(ctx, planned, now), queueRetries(ctx, admitted, now)]);

  // An instant that is already in the ledger gets no second execution.
  const queued = [...inserted.filter(({ isQueued }) => isQueued), ...admitted.queued];
  const day = toUtcDay(now);
  await recordUsage(
    ctx,
    queued.map(({ userId }) => ({ userId, day, executions: 1 })),
  );
  const exceededByTask = new Map(planned.map(({ task, run }) => [task.id, run?.exceeded]));
  const refused = inserted
    .filter(({ isQueued }) => !isQueued)
    .map(({ id, taskId }) => ({ id, exceeded: exceededByTask.get(taskId) as QuotaExceeded }))
    .concat(admitted.refused);
  // Readers of the event log remember the ids of what is committed.
  if (refused.length > 0) await queryRows(ctx.db, sql`set local synchronous_commit to default`);
  await failOverQuota(ctx, refused);
  return {
    queued: queued.map(({ id }) => id),
    refused: refused.map(({ id }) => id),
    mayBeMore: isCut || tasks.length === MAX_BATCH || retries.length === MAX_BATCH,
  };
}

/** Skips tasks that are locked. `isBusy` is a scalar subquery: an `exists` may scan all live executions. */
function lockDueTasks(ctx: Context, dueBefore: Date): Promise<DueTask[]> {
  return queryRows<DueTask>(
    ctx.db,
    sql`
    select t.id, t.user_id, t.recurrence, t.recurrence_pattern, t.timezone, t.scheduled_for, t.next_execution_at,
      (select true from executions e where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running') limit 1) is not null
        as is_busy
    from tasks t
    where t.next_execution_at <= ${dueBefore.toISOString()} and not (select maintenance_mode from settings)
    order by t.next_execution_at, t.user_id limit ${MAX_BATCH} for no key update of t skip locked`,
  );
}

function lockDueRetries(ctx: Context, dueBefore: Date): Promise<DueRetry[]> {
  return queryRows<DueRetry>(
    ctx.db,
    sql`
    select e.id, e.user_id from executions e join tasks t on t.id = e.task_id
    where e.status = 'pending' and e.queued_at is null and e.run_at <= ${dueBefore.toISOString()}
      and not (select maintenance_mode from settings)
    order by e.run_at limit ${MAX_BATCH} for no key update of t, e skip locked`,
  );
}

/** The next batch takes the tasks beyond `MAX_DUE_OCCURRENCES`. */
function computeDueOccurrences(ctx: Context, tasks: readonly DueTask[], now: Date) {
  const due: { task: DueTask; occurrences: DueOccurrences }[] = [];
  let left = MAX_DUE_OCCURRENCES;
  for (const task of tasks) {
    if (left <= 0) break;
    const occurrences = computeDue(ctx, task, now, left);
    left -= occurrences.missed.length + 1;
    due.push({ task, occurrences });
  }
  return { due, isCut: left <= 0 };
}

function computeDue(ctx: Context, task: DueTask, now: Date, limit: number): DueOccurrences {
  const from = toInstant(task.nextExecutionAt);
  try {
    const due = listDueOccurrences({ ...task, scheduledFor: toInstant(task.scheduledFor) }, from, now, limit);
    if (due.next === null && task.recurrence !== 'once') throw new Error('The schedule has no next run.');
    return due;
  } catch (error) {
    // A broken task must not stop the others, or fail at every tick.
    ctx.log.error({ err: error, taskId: task.id }, 'next run of a task cannot be computed');
    return { missed: [], latest: from, next: new Date(now.getTime() + UNSCHEDULABLE_PAUSE_MS) };
  }
}

function planOccurrence(task: DueTask, due: DueOccurrences, account: QuotaAccount, now: Date): PlannedOccurrence {
  // Activating the account computes the next instants of its tasks.
  if (!account.isActive) return { task, ledger: [], run: null, nextExecutionAt: null };
  const ledger: PlannedOccurrence['ledger'] = due.missed.map((at) => ({ at, fate: 'missed' }));
  const at = due.latest;
  if (at === null) return { task, ledger, run: null, nextExecutionAt: due.next };
  if (task.isBusy) {
    ledger.push({ at, fate: 'skipped_overlap' });
    return { task, ledger, run: null, nextExecutionAt: due.next };
  }
  const exceeded = admitExecution(account, now);
  const isLate = now.getTime() - at.getTime() > LATE_AFTER_MS;
  ledger.push({ at, fate: exceeded ? 'over_quota' : isLate ? 'late' : 'ran' });
  return { task, ledger, run: { at, exceeded }, nextExecutionAt: due.next };
}

async function insertPlanned(ctx: Context, planned: readonly PlannedOccurrence[], now: Date) {
  if (planned.length === 0) return [];
  const ledger = planned.flatMap(({ task, ledger }) => ledger.map(({ at, fate }) => ({ taskId: task.id, at, fate })));
  const runs = planned.flatMap(({ task, run }) =>
    run ? [{ taskId: task.id, userId: task.userId, at: run.at, queued: run.exceeded === null }] : [],
  );
  const moves = planned.map(({ task, nextExecutionAt }) => ({ taskId: task.id, next: nextExecutionAt }));
  return queryRows<{ id: number; taskId: number; userId: number; isQueued: boolean }>(
    ctx.db,
    sql`
    with recorded as (
      insert into occurrences (task_id, planned_for, fate, recorded_at)
      select task_id, at, fate, ${now.toISOString()}::timestamptz
      from ${recordset('l', ledger, { taskId: 'int', at: 'timestamptz', fate: 'text' })}
      on conflict do nothing
      returning task_id, planned_for
    ), moved as (
      update tasks t set next_execution_at = m.next
      from ${recordset('m', moves, { taskId: 'int', next: 'timestamptz' })} where t.id = m.task_id
    )
    insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
    select r.task_id, r.user_id, 'pending', 'schedule', r.at, r.at,
      case when r.queued then ${now.toISOString()}::timestamptz end,
      case when r.queued then ${toUtcDay(now)}::date end, ${now.toISOString()}::timestamptz
    from ${recordset('r', runs, { taskId: 'int', userId: 'int', at: 'timestamptz', queued: 'boolean' })}
    join recorded on recorded.task_id = r.task_id and recorded.planned_for = r.at
    returning id, task_id, user_id, queued_at is not null as is_queued`,
  );
}

function admitRetries(retries: readonly DueRetry[], accounts: ReadonlyMap<number, QuotaAccount>, now: Date) {
  const queued: DueRetry[] = [];
  const refused: { id: number; exceeded: QuotaExceeded }[] = [];
  const dropped: DueRetry[] = [];
  for (const retry of retries) {
    const account = accounts.get(retry.userId);
    if (!account?.isActive) {
      dropped.push(retry);
      continue;
    }
    const exceeded = admitExecution(account, now);
    if (exceeded) refused.push({ id: retry.id, exceeded });
    else queued.push(retry);
  }
  return { queued, refused, dropped };
}

async function queueRetries(ctx: Context, { queued, dropped }: ReturnType<typeof admitRetries>, now: Date) {
  if (queued.length + dropped.length === 0) return;
  const toIds = (retries: readonly DueRetry[]) => `{${retries.map(({ id }) => id).join(',')}}`;
  await ctx.db.execute(sql`
    with dropped as (delete from executions where id = any(${toIds(dropped)}::int[]))
    update executions set queued_at = ${now.toISOString()}, usage_day = ${toUtcDay(now)}
    where id = any(${toIds(queued)}::int[])`);
}
