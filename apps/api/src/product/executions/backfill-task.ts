import { type BackfillTaskInput, MAX_BACKFILL } from '@carillon/contract/occurrences';
import { queryRows, tasks, toInstant } from '@carillon/db';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { invalidField, taskNotFound } from '../../errors.ts';
import { chargeExecution, lockActiveAccount } from '../../platform/limits/quotas.ts';
import { hasPlannedTrigger } from '../../platform/queries/planned-trigger.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { nextRun, type Plan } from '../schedule/next-run.ts';
import { recordUsage } from '../usage/record.ts';
import { assertWithinBudget } from './budget/assert-within-budget.ts';
import { type Budget, selectBudget } from './budget/budget.ts';

/**
 * Queues an execution for each instant of a past period that has had none, and returns how many. Ticks and other calls
 * wait for the lock of the task. Throws 400, 404, and 402 unless the quotas and the budget admit all of them.
 */
export async function backfillTask(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  taskId: number,
  input: BackfillTaskInput,
): Promise<number> {
  const from = new Date(input.from);
  const to = new Date(input.to);
  if (to <= from) throw invalidField('to', 'must be after `from`');
  if (to > ctx.now()) throw invalidField('to', 'must not be in the future');
  const queued = await inTransaction(ctx, async (tx) => {
    const [task] = await tx.db
      .select({
        scheduledFor: tasks.scheduledFor,
        recurrence: tasks.recurrence,
        recurrencePattern: tasks.recurrencePattern,
        timezone: tasks.timezone,
        endsAt: tasks.endsAt,
        budget: sql<Budget | null>`(select ${selectBudget} from tasks t where t.id = "tasks"."id")`,
      })
      .from(tasks)
      .where(and(eq(tasks.id, taskId), eq(tasks.userId, caller.id)))
      .for('no key update');
    if (!task) throw taskNotFound();
    const instants = await findWithoutRun(tx, taskId, listInstants(task, from, to));
    if (instants.length === 0) return [];
    const account = await lockActiveAccount(tx, caller.id);
    if (!account) throw taskNotFound();
    const usage = chargeExecution(account, tx.now(), instants.length);
    await assertWithinBudget(tx, task.budget, instants.length);
    const [inserted] = await Promise.all([
      insertBackfilled(tx, { taskId, userId: caller.id, day: usage.day }, instants),
      recordUsage(tx, [usage]),
    ]);
    return inserted;
  });
  for (const { id } of queued) ctx.trace.mark(`execution ${id}`);
  if (queued.length > 0) afterCommit(ctx, () => ctx.worker.wakeExecutions());
  return queued.length;
}

function listInstants(plan: Plan, from: Date, to: Date): Date[] {
  const instants: Date[] = [];
  let at = nextRun(plan, new Date(from.getTime() - 1));
  while (at !== null && at <= to) {
    if (instants.length === MAX_BACKFILL) {
      throw invalidField('to', `leaves more than ${MAX_BACKFILL} planned runs: give a shorter period`);
    }
    instants.push(at);
    at = nextRun(plan, at);
  }
  return instants;
}

const toTimes = (instants: readonly Date[]): SQL =>
  sql`unnest(${`{${instants.map((at) => at.toISOString()).join(',')}}`}::timestamptz[])`;

/** Of a run that retention has deleted, the ledger still has the fate. */
async function findWithoutRun({ db }: Context, taskId: number, instants: readonly Date[]): Promise<Date[]> {
  if (instants.length === 0) return [];
  const found = await queryRows<{ at: string }>(
    db,
    sql`
    select i.at from ${toTimes(instants)} i(at)
    left join occurrences o on o.task_id = ${taskId} and o.planned_for = i.at
    left join executions e on e.task_id = ${taskId} and e.planned_for = i.at and ${hasPlannedTrigger('e')}
    where e.id is null and (o.fate is null or o.fate in ('missed', 'skipped_overlap', 'skipped_by_user', 'over_budget'))
    order by i.at`,
  );
  return found.map(({ at }) => toInstant(at));
}

function insertBackfilled(
  ctx: Context,
  { taskId, userId, day }: { taskId: number; userId: number; day: string },
  instants: readonly Date[],
) {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  // Ordered by `run_at` and then `id`, they run in order of time.
  return queryRows<{ id: number }>(
    ctx.db,
    sql`
    with recorded as (
      insert into occurrences (task_id, planned_for, fate, recorded_at)
      select ${taskId}::int, at, 'late', ${now} from ${toTimes(instants)} i(at)
      on conflict (task_id, planned_for) do update set fate = excluded.fate, recorded_at = excluded.recorded_at
    )
    insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
    select ${taskId}::int, ${userId}::int, 'pending', 'backfill', at, ${now}, ${now}, ${day}::date, ${now}
    from ${toTimes(instants)} i(at) order by at
    returning id`,
  );
}
