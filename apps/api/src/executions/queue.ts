import { recordset, rows, toInstant, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../context.ts';
import { type Account, admitExecution, type Breach, dayOf, lockAccounts } from '../limits/quotas.ts';
import { type Due, dueOccurrences, INSTANTS_AT_ONCE } from '../schedule/due.ts';
import type { Schedule } from '../schedule/recurrence.ts';
import { addUsage } from '../usage/book.ts';
import { takeUpRetries } from './retries.ts';
import { refuseExecutions } from './settle.ts';

/** Tasks or retries that one transaction takes up. */
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
/** The same of one transaction, with how many tasks or retries it had in hand: none, when none is left. */
export type TakenUp = Enqueued & { taken: number };

/**
 * Takes up all that fell due at least `overdueMs` ago: tasks, each with its ledger rows, and retries whose wait is
 * over. Any number of processes may do so at once; a task is taken by one of them (decisions §5 and §6).
 * Nothing is taken up in maintenance mode: what is due stays due.
 */
export async function enqueueDue(ctx: Context, { overdueMs = 0 } = {}): Promise<Enqueued> {
  const all: Enqueued = { queued: [], refused: [] };
  for (const takeUp of [takeUpTasks, takeUpRetries]) {
    let taken: number;
    do {
      const dueBefore = new Date(ctx.now().getTime() - overdueMs);
      const batch = await inTransaction(ctx, (tx) => takeUp(tx, dueBefore, BATCH));
      all.queued.push(...batch.queued);
      all.refused.push(...batch.refused);
      for (const id of batch.queued) ctx.trace.mark(`execution ${id}`);
      if (batch.queued.length > 0) ctx.worker.nudge();
      taken = batch.taken;
    } while (taken > 0);
  }
  return all;
}

interface DueTask extends Omit<Schedule, 'scheduledFor'> {
  id: number;
  userId: number;
  scheduledFor: string;
  nextExecutionAt: string;
  busy: boolean;
}

/** What becomes of a due task: its ledger rows, the instant that runs or is refused, and its next instant. */
interface Plan {
  task: DueTask;
  ledger: { at: Date; fate: 'ran' | 'late' | 'skipped_overlap' | 'missed' | 'over_quota' }[];
  run: { at: Date; breach: Breach | null } | null;
  next: Date | null;
}

/** A scalar subquery for `busy`: an `exists` may be planned as one pass over all that waits and runs. */
async function takeUpTasks(ctx: Context, dueBefore: Date, limit: number): Promise<TakenUp> {
  const due = await rows<DueTask>(
    ctx.db,
    sql`
    select t.id, t.user_id as "userId", t.recurrence, t.recurrence_pattern as "recurrencePattern", t.timezone,
      t.scheduled_for as "scheduledFor", t.next_execution_at as "nextExecutionAt",
      (select true from executions e where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running') limit 1) is not null
        as busy
    from tasks t
    where t.next_execution_at <= ${dueBefore.toISOString()} and not (select maintenance_mode from settings)
    order by t.next_execution_at limit ${limit} for no key update of t skip locked`,
  );
  if (due.length === 0) return { taken: 0, queued: [], refused: [] };

  const now = ctx.now();
  const looked = lookAt(ctx, due, now);
  const userIds = looked.map(({ task }) => task.userId);
  const accounts = await lockAccounts(ctx.db, userIds, now);
  const plans = looked.map(({ task, due }) => planTask(task, due, accounts.get(task.userId) as Account, now));
  const created = await writePlans(ctx, plans, now);

  // Counted from the rows that were really made: an instant that the ledger already knew makes none.
  const day = dayOf(now);
  const queued = created.filter((row) => row.queued);
  await addUsage(
    ctx,
    queued.map((row) => ({ userId: row.userId, day, executions: 1 })),
  );
  const breaches = new Map(plans.map((plan) => [plan.task.id, plan.run?.breach]));
  const refused = created.filter((row) => !row.queued);
  await refuseExecutions(
    ctx,
    refused.map((row) => ({ id: row.id, breach: breaches.get(row.taskId) as Breach })),
  );
  return { taken: plans.length, queued: queued.map((row) => row.id), refused: refused.map((row) => row.id) };
}

/** What has fallen due of the tasks, until `INSTANTS_AT_ONCE` are reached: the tasks after that stay as they are. */
function lookAt(ctx: Context, tasks: readonly DueTask[], now: Date): { task: DueTask; due: Due }[] {
  const looked: { task: DueTask; due: Due }[] = [];
  let room = INSTANTS_AT_ONCE;
  for (const task of tasks) {
    if (room <= 0) break;
    const due = dueOf(ctx, task, now, room);
    room -= due.missed.length + 1;
    looked.push({ task, due });
  }
  return looked;
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

function planTask(task: DueTask, due: Due, account: Account, now: Date): Plan {
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

/** Writes ledger rows, executions and next instants at once. An instant that has its ledger row gets no second run. */
async function writePlans(ctx: Context, plans: readonly Plan[], now: Date) {
  const ledger = plans.flatMap(({ task, ledger }) => ledger.map(({ at, fate }) => ({ task_id: task.id, at, fate })));
  const runs = plans.flatMap(({ task, run }) =>
    run ? [{ task_id: task.id, user_id: task.userId, at: run.at, queued: run.breach === null }] : [],
  );
  const moves = plans.map(({ task, next }) => ({ task_id: task.id, next }));
  return rows<{ id: number; taskId: number; userId: number; queued: boolean }>(
    ctx.db,
    sql`
    with recorded as (
      insert into occurrences (task_id, planned_for, fate, recorded_at)
      select task_id, at, fate, ${now.toISOString()}::timestamptz
      from jsonb_to_recordset(${recordset(ledger)}::jsonb) as l(task_id int, at timestamptz, fate text)
      on conflict do nothing
      returning task_id, planned_for
    ), moved as (
      update tasks t set next_execution_at = m.next
      from jsonb_to_recordset(${recordset(moves)}::jsonb) as m(task_id int, next timestamptz) where t.id = m.task_id
    )
    insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
    select r.task_id, r.user_id, 'pending', 'schedule', r.at, r.at,
      case when r.queued then ${now.toISOString()}::timestamptz end,
      case when r.queued then ${dayOf(now)}::date end, ${now.toISOString()}::timestamptz
    from jsonb_to_recordset(${recordset(runs)}::jsonb) as r(task_id int, user_id int, at timestamptz, queued boolean)
    join recorded on recorded.task_id = r.task_id and recorded.planned_for = r.at
    returning id, task_id as "taskId", user_id as "userId", queued_at is not null as queued`,
  );
}

/**
 * The instant at which something falls due next, in milliseconds precise; null when nothing is planned. Lets the
 * scheduler wake on time rather than at its next interval (decisions §6).
 */
export async function findNextDue(ctx: Context): Promise<Date | null> {
  const [row] = await rows<{ at: string | null }>(
    ctx.db,
    sql`
    select least(
      (select min(next_execution_at) from tasks where next_execution_at is not null),
      (select min(run_at) from executions where status = 'pending' and queued_at is null)
    ) as at`,
  );
  return toInstantOrNull(row?.at ?? null);
}
