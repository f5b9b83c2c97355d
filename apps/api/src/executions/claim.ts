import { randomUUID } from 'node:crypto';
import { queryRows, recordset, toInstant } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context, inTransaction } from '../context.ts';
import { recordEvents } from '../events/outbox.ts';
import {
  admitExecution,
  applyUsage,
  checkQuota,
  checkTokenQuota,
  lockAccounts,
  type QuotaAccount,
  type QuotaExceeded,
  reserveTokens,
  toUtcDay,
} from '../limits/quotas.ts';
import { recordUsage, type UsageDelta } from '../usage/record.ts';
import { LATE_AFTER_MS } from './queue.ts';
import { type Candidate, type ClaimedExecution, selectRunnable } from './select-runnable.ts';
import { type End, followEnds, refuseExecutions, usageOf, writeEnds } from './settle.ts';

export interface ClaimResult {
  started: ClaimedExecution[];
  /** How many ended at once, over quota. */
  refused: number;
  /** Where the next claim goes on among the users; 0 when this one reached the last of them. */
  next: number;
}

interface Claiming {
  /** Executions that start at most. */
  limit: number;
  /** The user after whom the round goes on. */
  after: number;
  /** Executions of this process that have ended: what starts takes their places. */
  ends?: readonly End[];
}

/**
 * Starts up to `limit` queued executions: at most 5 at once for a user and 1000 over all processes, one at a time of a
 * task, and none over a token quota. Goes round the users from the one after `after`, so that a user with a thousand
 * runs waiting delays nobody else (specification "Concurrency", decisions §5).
 *
 * Started means: `running`, with a lease, before the provider is called. No two claims run at once, in any process,
 * which is what makes the counts exact. `ends` are settled in the same transaction, as `settleExecutions` does: a place
 * is empty for no longer than that takes.
 */
export function claimExecutions(ctx: Context, { limit, after, ends = [] }: Claiming): Promise<ClaimResult> {
  return inTransaction(ctx, async (tx) => {
    // Sent together. The lock comes after the rows that may have to be waited for: others claim meanwhile. What waited
    // for it reads with a snapshot of its own.
    const [settled, , turns] = await Promise.all([
      writeEnds(tx, ends),
      lockClaims(tx),
      selectRunnable(tx, limit, after),
    ]);
    const next = turns.length < limit ? 0 : (turns.at(-1)?.turnOf ?? 0);
    const candidates = turns.filter((turn) => turn.id !== null);
    if (candidates.length === 0 && settled.length === 0) return { started: [], refused: 0, next };

    const now = ctx.now();
    const freed = usageOf(settled);
    // All of them at once, in their order: whoever waited for one while holding another could wait for ever.
    const userIds = [...settled, ...candidates].map(({ userId }) => userId);
    const accounts = await lockAccounts(tx.db, userIds, now);
    for (const delta of freed) applyUsage(accounts.get(delta.userId) as QuotaAccount, delta, now);
    const { starting, refused, deltas } = decide(candidates, accounts, now);
    const started = starting.map((candidate) => ({ ...candidate, claimToken: randomUUID() }));
    await Promise.all([
      writeStarts(tx, started, now),
      markLate(tx, started, now),
      recordUsage(tx, [...freed, ...deltas]),
      followEnds(tx, settled),
      recordEvents(
        tx,
        started.flatMap((run) => startEvents(run, now)),
      ),
    ]);
    await refuseExecutions(tx, refused);
    afterCommit(tx, () => tellStarts(ctx, started));
    return { started, refused: refused.length, next };
  });
}

async function lockClaims({ db }: Context): Promise<void> {
  await db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.claimExecutions})`);
}

/** Whether anything waits for a worker: what an idle process asks instead of claiming. */
export async function hasQueuedExecutions(ctx: Context): Promise<boolean> {
  const [row] = await queryRows<{ waiting: boolean }>(
    ctx.db,
    sql`select exists (select from executions where status = 'pending' and queued_at is not null) as waiting`,
  );
  return row?.waiting ?? false;
}

/** Starts, refuses, or leaves waiting where the tokens that others have reserved fill the quota. */
function decide(candidates: readonly Candidate[], accounts: ReadonlyMap<number, QuotaAccount>, now: Date) {
  const today = toUtcDay(now);
  const starting: Candidate[] = [];
  const refused: { id: number; breach: QuotaExceeded }[] = [];
  const deltas: UsageDelta[] = [];
  for (const candidate of candidates) {
    const { id, userId, usageDay, maxTokens } = candidate;
    const account = accounts.get(userId) as QuotaAccount;
    // Executions count on the day they start: one that waited over midnight moves to the new day's quota.
    const breach = usageDay === today ? checkTokenQuota(account, now) : checkQuota(account, now);
    if (breach) {
      refused.push({ id, breach });
      continue;
    }
    if (!reserveTokens(account, maxTokens)) continue;
    if (usageDay !== today) {
      admitExecution(account, now);
      deltas.push({ userId, day: usageDay, executions: -1 }, { userId, day: today, executions: 1 });
    }
    deltas.push({ userId, day: today, tokensReserved: maxTokens });
    starting.push(candidate);
  }
  return { starting, refused, deltas };
}

async function writeStarts(ctx: Context, started: readonly (ClaimedExecution & Candidate)[], now: Date) {
  if (started.length === 0) return;
  const starts = started.map(({ id, claimToken, maxTokens, isFirstStart }) => ({
    id,
    token: claimToken,
    tokens: maxTokens,
    count: isFirstStart ? 1 : 0,
  }));
  const at = sql`${now.toISOString()}::timestamptz`;
  const lease = new Date(now.getTime() + ctx.config.executionLeaseMs).toISOString();
  await ctx.db.execute(sql`
    with started as (
      update executions e set status = 'running', started_at = ${at}, claim_token = s.token,
        lease_until = ${lease}, tokens_reserved = s.tokens, usage_day = ${toUtcDay(now)}
      from jsonb_to_recordset(${recordset(starts)}::jsonb) as s(id int, token uuid, tokens int, count int)
      where e.id = s.id
      returning e.task_id, s.count
    )
    update tasks t set last_execution_at = ${at}, execution_count = t.execution_count + s.count
    from started s where t.id = s.task_id`);
}

/** A planned run that waited for too long after it was taken up: the ledger says so too. */
async function markLate({ db }: Context, started: readonly Candidate[], now: Date) {
  const late = started
    .filter(
      ({ trigger, runAt }) => trigger === 'schedule' && now.getTime() - toInstant(runAt).getTime() > LATE_AFTER_MS,
    )
    .map(({ taskId, runAt }) => ({ task: taskId, planned: runAt }));
  if (late.length === 0) return;
  await db.execute(sql`
    update occurrences o set fate = 'late' from jsonb_to_recordset(${recordset(late)}::jsonb)
      as l(task int, planned timestamptz)
    where o.task_id = l.task and o.planned_for = l.planned and o.fate = 'ran'`);
}

function tellStarts({ metrics, now }: Context, started: readonly Candidate[]) {
  for (const { trigger, runAt, isFirstStart } of started) {
    if (isFirstStart) metrics.executionStarted(trigger, now().getTime() - toInstant(runAt).getTime());
  }
}

function startEvents({ id, taskId, taskName, userId, viaWebhook, lastDurationMs }: Candidate, now: Date) {
  const data = {
    task: { id: taskId, name: taskName },
    execution: {
      id,
      status: 'running' as const,
      startedAt: now.toISOString(),
      // Before the first completed run there is nothing to go by but the order of magnitude of such calls.
      estimatedDurationMs: lastDurationMs ?? 10_000,
    },
  };
  return [
    { kind: 'task.started' as const, userId, taskId, viaWebhook, data },
    { kind: 'execution.started' as const, userId, taskId, viaWebhook, data },
  ];
}
