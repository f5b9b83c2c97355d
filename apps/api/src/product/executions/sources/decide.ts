import { queryRows, recordset, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { inTransaction } from '../../../transaction.ts';
import { recordUsage } from '../../usage/record.ts';
import { planBatch } from '../pipeline/plan-batch.ts';
import { completeTasks, dueTaskColumns } from '../planning/due-tasks.ts';
import { type DueTask, planLooked } from '../planning/plan-occurrences.ts';
import { alertOfSources, type LookedTaskRow, selectLookedTask } from './alerts.ts';
import { keepCurrent } from './before-run.ts';
import { type SourceLook, toExecutionSources } from './look.ts';
import { type ClaimedLook, isLookHeld } from './queue.ts';
import { storeStates } from './states.ts';

export interface EndedLook {
  claimed: ClaimedLook;
  looks: SourceLook[];
}

interface Decided extends EndedLook {
  task: DueTask &
    LookedTaskRow & {
      status: string;
      /** Whether it runs only if a source has changed. */
      waitsForChange: boolean;
      lastSuccessCostUsd: number | null;
    };
  /** The due instants, in order of time. */
  instants: Date[];
  isUnchanged: boolean;
}

/**
 * Ends looks. Without a change, the due instants of a task that waits for one become entries of the ledger; all others become
 * runs, as far as overlap, budget and quotas allow. A look that another process has taken over, or whose task was deleted, decides
 * nothing. Locks tasks before looks and accounts.
 */
export async function decideLooks(ctx: Context, ended: readonly EndedLook[]): Promise<void> {
  const queued = await inTransaction(ctx, (tx) => decide(tx, ended));
  for (const id of queued) ctx.trace.mark(`execution ${id}`);
  if (queued.length > 0) ctx.worker.wakeExecutions();
}

async function decide(tx: Context, ended: readonly EndedLook[]): Promise<number[]> {
  // If this commit is lost, the looks still wait.
  await queryRows(tx.db, sql`set local synchronous_commit to off`);
  const decided = await lockLooks(tx, ended);
  if (decided.length === 0) return [];
  const now = tx.now();
  const byTask = new Map(decided.map((one) => [one.task.id, one]));
  const { inserted, queued, plans } = await planBatch(tx, {
    due: decided.map((one) => ({ task: one.task, plan: (limits) => planLooked(one.task, one, limits) })),
    retries: [],
    now,
  });
  const unchanged = plans.flatMap(({ task, ledger }) => {
    const runs = ledger.filter(({ fate }) => fate === 'unchanged').length;
    return runs === 0 ? [] : [{ task: byTask.get(task.id)?.task as Decided['task'], runs }];
  });
  await storeStates(
    tx,
    decided.flatMap(({ looks }) => looks),
  );
  await storeLooksOfRuns(tx, inserted, byTask);
  await endLooks(tx, decided, unchanged, now);
  const ending = plans.filter(({ nextExecutionAt, runs }) => nextExecutionAt === null && runs.length === 0);
  await completeTasks(
    tx,
    ending.map(({ task }) => task.id),
  );
  await recordUsage(
    tx,
    unchanged.map(({ task, runs }) => ({
      userId: task.userId,
      day: toUtcDay(now),
      savedRuns: runs,
      savedUsd: runs * (task.lastSuccessCostUsd ?? 0),
    })),
  );
  await alertOfSources(
    tx,
    decided.map(({ task, looks, instants }) => ({
      task,
      looks,
      at: instants.at(-1) ?? now,
      executionId: inserted.find(({ taskId }) => taskId === task.id)?.id ?? null,
    })),
  );
  return queued.map(({ id }) => id);
}

/** Locks the tasks by id, then the looks that are still those of these claims. */
async function lockLooks(tx: Context, ended: readonly EndedLook[]): Promise<Decided[]> {
  const leases = ended.map(({ claimed: { id, claimToken } }) => ({ id, claimToken }));
  const ids = `{${leases.map(({ id }) => id).join(',')}}`;
  await queryRows(tx.db, sql`select from tasks where id = any(${ids}::int[]) order by id for no key update`);
  const rows = await queryRows<Decided['task'] & { instants: string[] }>(
    tx.db,
    sql`
    select ${dueTaskColumns}, ${selectLookedTask}, t.status, t.run_if = 'changed' as waits_for_change, t.last_success_cost_usd,
      to_json(l.instants) as instants
    from task_looks l join tasks t on t.id = l.id
    where ${isLookHeld(leases)} and l.waiting_since is not null
    order by l.id for no key update of l`,
  );
  const looksOf = new Map(ended.map((one) => [one.claimed.id, one]));
  return rows.map(({ instants, ...task }) => {
    const { claimed, looks } = looksOf.get(task.id) as EndedLook;
    const kept = keepCurrent(looks, task.sources);
    const isWhole = kept.length === task.sources.length && kept.length > 0;
    return {
      claimed,
      looks: kept,
      task,
      instants: instants.map(toInstant).sort((a, b) => a.getTime() - b.getTime()),
      isUnchanged: isWhole && task.waitsForChange && kept.every(({ isChanged }) => !isChanged),
    };
  });
}

/** A run does not look again: it has what this look has read. */
async function storeLooksOfRuns(
  { db }: Context,
  inserted: readonly { id: number; taskId: number }[],
  byTask: ReadonlyMap<number, Decided>,
) {
  const runs = inserted.flatMap(({ id, taskId }) => {
    const { looks, task } = byTask.get(taskId) as Decided;
    if (looks.length < task.sources.length) return [];
    const { sources, sourceStates } = toExecutionSources(looks);
    return [{ id, sources: JSON.stringify(sources), states: JSON.stringify(sourceStates) }];
  });
  if (runs.length === 0) return;
  await db.execute(sql`
    update executions_live e set sources = r.sources::json, source_states = r.states::json
    from ${recordset('r', runs, { id: 'int', sources: 'text', states: 'text' })} where e.id = r.id`);
}

async function endLooks(
  { db }: Context,
  decided: readonly Decided[],
  unchanged: readonly { task: Decided['task']; runs: number }[],
  now: Date,
) {
  const runsOf = new Map(unchanged.map(({ task, runs }) => [task.id, runs]));
  const rows = decided.map(({ task }) => {
    const runs = runsOf.get(task.id) ?? 0;
    return { id: task.id, runs, usd: runs * (task.lastSuccessCostUsd ?? 0) };
  });
  const month = sql`${toUtcMonth(toUtcDay(now))}::text`;
  await db.execute(sql`
    update task_looks l set instants = '{}', waiting_since = null, claim_token = null, lease_until = null, saved_month = ${month},
      saved_runs = r.runs + case when l.saved_month = ${month} then l.saved_runs else 0 end,
      saved_usd = r.usd + case when l.saved_month = ${month} then l.saved_usd else 0 end
    from ${recordset('r', rows, { id: 'int', runs: 'int', usd: 'float8' })} where l.id = r.id`);
}
