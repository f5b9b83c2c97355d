import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import { lockAccounts, type QuotaAccount } from '../../../../platform/limits/quotas.ts';
import { isPlannedTrigger } from '../../../../platform/queries/runs.ts';
import { type Candidate, MAX_RUNNING_PER_USER } from './select-runnable.ts';

export interface LockedCandidates {
  accounts: Map<number, QuotaAccount>;
  /** Those that may start, in their order. */
  startable: Candidate[];
  lost: number;
}

/**
 * Locks the accounts of all `userIds` and the slots of the candidates, and checks the limits again: since the candidates
 * were selected, other claims may have started executions. Each start needs both locks, so the counts are exact. `retried` has
 * the tasks of which this transaction adds a retry at its end.
 */
export async function lockCandidates(
  tx: Context,
  candidates: readonly Candidate[],
  userIds: readonly number[],
  now: Date,
  retried: readonly number[] = [],
): Promise<LockedCandidates> {
  const [accounts, slots, running, waiting] = await Promise.all([
    lockAccounts(tx.db, userIds, now),
    lockSlots(tx, candidates),
    // The last statements: their snapshots must be taken under the locks.
    readRunning(tx, candidates),
    readRetried(tx, candidates),
  ]);
  const waitingTasks = new Set([...waiting, ...retried]);
  for (const { slot } of running) if (slot !== null) slots.delete(slot);
  const tasks = new Set(running.map(({ taskId }) => taskId));
  const counts = new Map<number, number>();
  for (const { userId } of running) counts.set(userId, (counts.get(userId) ?? 0) + 1);
  const startable = candidates.filter(({ slot, taskId, userId, trigger }) => {
    const count = counts.get(userId) ?? 0;
    if (isPlannedTrigger(trigger) && waitingTasks.has(taskId)) return false;
    if (count >= MAX_RUNNING_PER_USER || tasks.has(taskId) || !slots.has(slot)) return false;
    counts.set(userId, count + 1);
    // Another statement of this claim may have found the same slot.
    slots.delete(slot);
    return true;
  });
  return { accounts, startable, lost: candidates.length - startable.length };
}

/** Returns the slots that no other claim has locked. */
async function lockSlots({ db }: Context, candidates: readonly Candidate[]): Promise<Set<number>> {
  if (candidates.length === 0) return new Set();
  const locked = await queryRows<{ slot: number }>(
    db,
    sql`
    select slot from unnest(${toArray(candidates.map(({ slot }) => slot))}::int[]) slot
    where pg_try_advisory_xact_lock(${ADVISORY_LOCKS.slots}, slot)`,
  );
  return new Set(locked.map(({ slot }) => slot));
}

interface RunningExecution {
  userId: number;
  taskId: number;
  slot: number | null;
}

/** Reads what runs of the users of the candidates, or in their slots. */
async function readRunning({ db }: Context, candidates: readonly Candidate[]): Promise<RunningExecution[]> {
  if (candidates.length === 0) return [];
  const userIds = toArray([...new Set(candidates.map(({ userId }) => userId))]);
  const slots = toArray(candidates.map(({ slot }) => slot));
  return queryRows<RunningExecution>(
    db,
    sql`
    select user_id, task_id, slot from executions_live where status = 'running' and user_id = any(${userIds}::int[])
    union
    select user_id, task_id, slot from executions_live where status = 'running' and slot = any(${slots}::smallint[])`,
  );
}

async function readRetried({ db }: Context, candidates: readonly Candidate[]): Promise<number[]> {
  const planned = candidates.filter(({ trigger }) => isPlannedTrigger(trigger));
  if (planned.length === 0) return [];
  const users = toArray([...new Set(planned.map(({ userId }) => userId))]);
  const retries = await queryRows<{ taskId: number }>(
    db,
    sql`select task_id from executions_live where status = 'pending' and trigger = 'retry' and user_id = any(${users}::int[])`,
  );
  return retries.map(({ taskId }) => taskId);
}

const toArray = (numbers: readonly number[]) => `{${numbers.join(',')}}`;
