import { type BackfillTaskInput, MAX_BACKFILL } from '@carillon/contract/occurrences';
import { executions, queryRows, tasks, toInstant, toInstantOrNull } from '@carillon/db';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, executionNotFound, invalidField, taskNotFound } from '../../errors.ts';
import { chargeExecution, lockActiveAccount } from '../../platform/limits/quotas.ts';
import { hasPlannedTrigger } from '../../platform/queries/runs.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { nextRun, type Plan } from '../schedule/next-run.ts';
import { recordUsage } from '../usage/record.ts';
import { type Budget, selectBudget } from './budget/budget.ts';
import { assertWithinBudget } from './budget/costs.ts';
import { lockExecution } from './cancel.ts';

/** Queues an execution now, regardless of the task's schedule and state. Throws 404, and 402 over quota. */
export async function executeTask(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  taskId: number,
  trigger: 'manual' | 'inbound' = 'manual',
  inboundData: Record<string, unknown> | null = null,
) {
  const queued = await inTransaction(ctx, async (tx) => {
    const now = tx.now();
    // Every transaction locks the task before the account.
    const [[task], account] = await Promise.all([
      queryRows<{ budget: Budget | null }>(
        tx.db,
        sql`select ${selectBudget} as budget from tasks t where t.id = ${taskId} and t.user_id = ${caller.id} for key share`,
      ),
      lockActiveAccount(tx, caller.id),
    ]);
    if (!task || !account) throw taskNotFound();
    const usage = chargeExecution(account, now);
    await assertWithinBudget(tx, task.budget);
    const [[execution]] = await Promise.all([
      tx.db
        .insert(executions)
        .values({
          taskId,
          userId: caller.id,
          status: 'pending',
          trigger,
          viaWebhook: trigger === 'inbound',
          inboundData,
          runAt: now,
          queuedAt: now,
          usageDay: usage.day,
          createdAt: now,
        })
        .returning({ executionId: executions.id, startedAt: executions.createdAt }),
      recordUsage(tx, [usage]),
    ]);
    return execution as { executionId: number; startedAt: Date };
  });
  ctx.trace.mark(`execution ${queued.executionId}`);
  afterCommit(ctx, () => ctx.worker.wakeExecutions());
  return queued;
}

interface RetriedExecution {
  executionId: number;
  status: 'pending' | 'running';
  /** When it was queued, if it is pending. */
  startedAt: Date;
  /** False for a live retry that existed. */
  isNew: boolean;
}

/**
 * Returns a live retry of any depth if there is one, so that nothing is paid twice; a scheduled one is queued now.
 * Throws 404, 402 over quota, and 409 for an execution that has not failed.
 */
export async function retryExecution(ctx: Context, caller: Caller, executionId: number): Promise<RetriedExecution> {
  const retried = await inTransaction(ctx, async (tx): Promise<RetriedExecution> => {
    const failed = await lockFailed(tx, caller, executionId);
    const live = await findLiveRetry(tx, failed.id);
    if (live?.since) return { executionId: live.id, status: live.status, startedAt: live.since, isNew: false };

    const now = tx.now();
    const account = await lockActiveAccount(tx, caller.id);
    if (!account) throw executionNotFound();
    const usage = chargeExecution(account, now);
    await assertWithinBudget(tx, failed.budget);
    await recordUsage(tx, [usage]);
    const queued = { runAt: now, queuedAt: now, usageDay: usage.day };
    const id = live ? await queueRetry(tx, live.id, queued) : await insertRetry(tx, failed, queued);
    return { executionId: id, status: 'pending', startedAt: now, isNew: live === null };
  });
  if (retried.status === 'pending') {
    ctx.trace.mark(`execution ${retried.executionId}`);
    afterCommit(ctx, () => ctx.worker.wakeExecutions());
  }
  return retried;
}

async function lockFailed(ctx: Context, caller: Caller, id: number) {
  const found = await lockExecution(ctx, caller, id);
  if (found.status === 'failed') return found;
  throw new AppError(
    'conflict',
    `This execution is ${found.status} and cannot be retried, because only failed executions can.`,
  );
}

interface LiveRetry {
  id: number;
  status: RetriedExecution['status'];
  /** Null while it is scheduled. */
  since: Date | null;
}

async function findLiveRetry(ctx: Context, id: number): Promise<LiveRetry | null> {
  const [live] = await queryRows<Omit<LiveRetry, 'since'> & { since: string | null }>(
    ctx.db,
    sql`
    with recursive retries as (
      select id from executions where retry_of_id = ${id} and id > ${id}
      union all
      select e.id from executions e join retries r on e.retry_of_id = r.id and e.id > r.id
    )
    select e.id, e.status, case e.status when 'running' then e.started_at else e.queued_at end as since
    from executions e join retries using (id)
    where e.status in ('pending', 'running') order by since nulls last, e.id limit 1`,
  );
  return live ? { ...live, since: toInstantOrNull(live.since) } : null;
}

type Queued = Pick<typeof executions.$inferInsert, 'runAt' | 'queuedAt' | 'usageDay'> & { queuedAt: Date };

async function queueRetry({ db }: Context, id: number, queued: Queued): Promise<number> {
  await db.update(executions).set(queued).where(eq(executions.id, id));
  return id;
}

async function insertRetry({ db }: Context, failed: Awaited<ReturnType<typeof lockFailed>>, queued: Queued) {
  const { id: retryOfId, taskId, userId, viaWebhook } = failed;
  const retry = { taskId, userId, viaWebhook, retryOfId, status: 'pending', trigger: 'manual' } as const;
  const inboundData = viaWebhook ? sql`(select inbound_data from executions where id = ${retryOfId})` : null;
  const [inserted] = await db
    .insert(executions)
    .values({ ...retry, ...queued, inboundData, createdAt: queued.queuedAt })
    .returning({ id: executions.id });
  return (inserted as { id: number }).id;
}

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
        interval: tasks.interval,
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
    where e.id is null and (o.fate is null or o.fate in ('missed', 'skipped_overlap', 'skipped_by_user', 'over_budget', 'unchanged'))
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
