import { randomUUID } from 'node:crypto';
import { recordset, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { leaseUntil } from '../../../lib/queue/leases.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import {
  admitExecution,
  checkQuota,
  checkTokenQuota,
  lockAccounts,
  type QuotaAccount,
  type QuotaExceeded,
  reserveTokens,
  toUtcDay,
} from '../../../platform/limits/quotas.ts';
import { afterCommit } from '../../../transaction.ts';
import { recordUsage, type UsageDelta } from '../../usage/record.ts';
import { addRequest, checkBudget, type HighestCost } from '../budget/budget.ts';
import { loadHighestCost } from '../budget/costs.ts';
import { LATE_AFTER_MS } from '../planning/policies.ts';
import { buildRequest } from '../request/build-request.ts';
import { OUTCOME_MAX_TOKENS } from '../result/outcome-request.ts';
import { failOverQuota } from './complete.ts';
import { type ProviderLimits, selectLimited } from './provider-limits.ts';
import {
  type Candidate,
  type ClaimedExecution,
  MAX_RUNNING_PER_USER,
  MAX_STARTS,
  type Round,
  selectCandidates,
  takeSlots,
} from './select-candidates.ts';

export interface ClaimOptions {
  limit: number;
  /** The claim starts with the users after this one; 0 starts a new round. */
  after: number;
  limits: ProviderLimits | null;
}

export interface ClaimResult extends Omit<Round, 'candidates'> {
  started: ClaimedExecution[];
  /** The number that failed over quota. */
  refused: number;
  /** Whether every slot of all processes is taken. */
  isFull: boolean;
}

/**
 * Starts executions. It locks, in this order:
 *
 * 1. users with queued executions. Those of other claims are skipped, not waited for, and all are kept until the commit: only
 *    this claim starts executions of these users, so what it counts is exact;
 * 2. executions that may start, with their tasks. Those that other transactions have locked are skipped;
 * 3. free slots, as the users;
 * 4. the counters of their users, by id: quotas and budgets decide under this lock;
 * 5. with the commit, the event positions of these users, by id.
 */
export async function claim(tx: Context, { limit, ...rest }: ClaimOptions): Promise<ClaimResult> {
  const options = { ...rest, limit: Math.min(limit, MAX_STARTS) };
  const [{ candidates, ...round }, { slots, isContended }] = await Promise.all([
    selectRound(tx, options),
    takeSlots(tx, options.limit),
  ]);
  const startable = fillSlots(candidates, slots);
  const claimed = {
    ...round,
    lost: round.lost + candidates.length - startable.length,
    isContended: round.isContended || isContended,
    isFull: slots.length < candidates.length && !isContended,
  };
  if (startable.length === 0) return { started: [], refused: 0, ...claimed };

  const now = tx.now();
  const accounts = await lockAccounts(
    tx.db,
    startable.map(({ userId }) => userId),
    now,
  );
  const highestCost = await loadHighestCost(
    tx,
    startable.map(({ budget }) => budget),
  );
  const { starting, refused, usage } = decideStarts({ candidates: startable, accounts, highestCost, now });
  await Promise.all([writeStarts(tx, starting, now), recordUsage(tx, usage)]);
  recordStartEvents(tx, starting, now);
  await failOverQuota(tx, refused);
  return { started: starting, refused: refused.length, ...claimed };
}

/** Executions of providers with a limit come first, in the turn of each provider. */
async function selectRound(tx: Context, { limit, after, limits }: ClaimOptions): Promise<Round> {
  if (!limits) return selectCandidates(tx, limit, after);
  const limited = await selectLimited(tx, limits, limit);
  const others = await selectCandidates(tx, limit - limited.length, after, limits.others);
  return { ...others, candidates: [...limited, ...others.candidates] };
}

type StartableExecution = Candidate & { slot: number };

function fillSlots(candidates: readonly Candidate[], slots: readonly number[]): StartableExecution[] {
  const free = [...slots];
  const counts = new Map<number, number>();
  const startable: StartableExecution[] = [];
  for (const candidate of candidates) {
    const { userId, running } = candidate;
    // Selections by provider know nothing of each other.
    const count = counts.get(userId) ?? running;
    if (count >= MAX_RUNNING_PER_USER) continue;
    const slot = free.pop();
    if (slot === undefined) break;
    counts.set(userId, count + 1);
    startable.push({ ...candidate, slot });
  }
  return startable;
}

type StartingExecution = StartableExecution & ClaimedExecution;

interface StartInput {
  candidates: readonly StartableExecution[];
  accounts: ReadonlyMap<number, QuotaAccount>;
  highestCost: HighestCost;
  now: Date;
}

/**
 * Candidates remain queued while reserved tokens fill their user's quota. A budget needs no reservation: its row is locked,
 * and its task has no other running execution.
 */
function decideStarts({ candidates, accounts, highestCost, now }: StartInput) {
  const today = toUtcDay(now);
  const starting: StartingExecution[] = [];
  const refused: { id: number; exceeded: QuotaExceeded }[] = [];
  const usage: UsageDelta[] = [];
  for (const candidate of candidates) {
    const { id, userId, usageDay } = candidate;
    const tokens = countReservedTokens(candidate);
    const account = accounts.get(userId) as QuotaAccount;
    // Executions count on the day they start, possibly after midnight.
    const isNewDay = usageDay !== today;
    const request = buildRequest(candidate, now);
    const exceeded =
      (isNewDay ? checkQuota(account, now) : checkTokenQuota(account, now)) ??
      checkBudget(addRequest(candidate.budget, request), highestCost, now);
    if (exceeded) {
      refused.push({ id, exceeded });
      continue;
    }
    if (!reserveTokens(account, tokens)) continue;
    if (isNewDay) {
      admitExecution(account, now);
      usage.push({ userId, day: usageDay, executions: -1 }, { userId, day: today, executions: 1 });
    }
    usage.push({ userId, day: today, tokensReserved: tokens });
    starting.push({
      ...candidate,
      claimToken: randomUUID(),
      request,
      unread: candidate.sources.length > 0 ? candidate : null,
    });
  }
  return { starting, refused, usage };
}

/** A second call may repair an answer that does not match the schema, and another one decides its outcome. */
const countReservedTokens = ({ maxTokens, outputSchema, notify }: Candidate) =>
  (outputSchema ? 2 * maxTokens : maxTokens) + (notify === 'news' ? OUTCOME_MAX_TOKENS : 0);

/** Writes neither events nor usage. Plan: executions, occurrences and tasks by primary key. */
async function writeStarts(tx: Context, starting: readonly StartingExecution[], now: Date): Promise<void> {
  if (starting.length === 0) return;
  const starts = starting.map((execution) => ({
    id: execution.id,
    slot: execution.slot,
    token: execution.claimToken,
    tokens: countReservedTokens(execution),
    count: execution.isFirstStart ? 1 : 0,
    isLate: isLate(execution, now),
    provider: execution.provider ?? null,
    request: JSON.stringify(execution.request),
    version: execution.version,
  }));
  const at = sql`${now.toISOString()}::timestamptz`;
  afterCommit(tx, () => observeStarts(tx, starting));
  await tx.db.execute(sql`
    with started as (
      update executions_live e set status = 'running', started_at = ${at}, slot = s.slot, claim_token = s.token,
        lease_until = ${leaseUntil(tx.config.executionLeaseMs)}, tokens_reserved = s.tokens, usage_day = ${toUtcDay(now)},
        request = s.request::json, provider = s.provider, model_attempts = null, task_version = s.version
      from ${recordset('s', starts, { id: 'int', slot: 'smallint', token: 'uuid', tokens: 'int', count: 'int', isLate: 'boolean', provider: 'text', request: 'text', version: 'int' })}
      where e.id = s.id
      returning e.task_id, e.run_at, s.count, s.is_late, s.version
    ), marked as (
      update occurrences o set fate = 'late' from started s
      where s.is_late and o.task_id = s.task_id and o.planned_for = s.run_at and o.fate = 'ran'
    )
    update tasks t set last_execution_at = ${at}, execution_count = t.execution_count + s.count, used_version = s.version
    from started s where t.id = s.task_id`);
}

const isLate = ({ trigger, runAt }: Candidate, now: Date) =>
  trigger === 'schedule' && now.getTime() - toInstant(runAt).getTime() > LATE_AFTER_MS;

function observeStarts({ metrics, now }: Context, started: readonly Candidate[]) {
  for (const { trigger, runAt, isFirstStart } of started) {
    if (isFirstStart) metrics.executionStarted(trigger, now().getTime() - toInstant(runAt).getTime());
  }
}

function recordStartEvents(tx: Context, starting: readonly StartingExecution[], now: Date): void {
  const startedAt = now.toISOString();
  const events = starting.flatMap(({ id, taskId, taskName, userId, viaWebhook, lastDurationMs }) => {
    // The order of magnitude, until a run has completed.
    const estimatedDurationMs = lastDurationMs ?? 10_000;
    const execution = { id, status: 'running' as const, startedAt, estimatedDurationMs };
    const event = { userId, taskId, viaWebhook, data: { task: { id: taskId, name: taskName }, execution } };
    return [
      { kind: 'task.started' as const, ...event },
      { kind: 'execution.started' as const, ...event },
    ];
  });
  recordEvents(tx, events);
}
