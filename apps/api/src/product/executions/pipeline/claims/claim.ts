import { randomUUID } from 'node:crypto';
import { type ExecutionRequest, queryRows, recordset, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import { type Lease, leaseUntil } from '../../../../lib/queue/leases.ts';
import { recordEvents } from '../../../../platform/events/outbox.ts';
import {
  admitExecution,
  checkQuota,
  checkTokenQuota,
  type QuotaAccount,
  type QuotaExceeded,
  reserveTokens,
  toUtcDay,
} from '../../../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../../../transaction.ts';
import type { UsageDelta } from '../../../usage/record.ts';
import { type Budget, checkBudget, type HighestCost } from '../../budget/budget.ts';
import { getCostOfMonth, type MonthCost } from '../../budget/costs.ts';
import { LATE_AFTER_MS } from '../../planning/policies.ts';
import { buildRequest } from '../../request/build-request.ts';
import { OUTCOME_MAX_TOKENS } from '../../result/outcome-request.ts';
import { type ProviderLimits, selectLimited } from '../provider-limits.ts';
import { waitForTurn } from './claim-turns.ts';
import { type Candidate, type ClaimedExecution, selectRunnable } from './select-runnable.ts';

export interface ClaimOptions {
  limit: number;
  /** The claim starts with the users after this one; 0 starts a new round. */
  after: number;
  /** Gets the result if its commit was not answered. */
  onUnanswered?(result: ClaimResult): void;
}

export interface ClaimResult {
  started: ClaimedExecution[];
  /** The number that failed over quota. */
  refused: number;
  /** The number that stays queued because another claim was faster. */
  lost: number;
  /** `after` of the next claim; 0 if this one reached the last user. */
  next: number;
  isFull: boolean;
}

interface Queue {
  isAnyQueued: boolean;
  databaseTime: Date;
  /** Claims that are gone: the execution was cancelled, deleted or taken over. */
  lost: Lease<number>[];
}

/** One statement reads whether anything is queued and which of the `held` claims are gone. */
export async function readQueue(ctx: Context, held: readonly Lease<number>[]): Promise<Queue> {
  const [row] = await inTransaction(ctx, ({ db }) =>
    queryRows<{ found: boolean; time: string; lost: number[] | null }>(
      db,
      sql`select exists (select from executions_live where status = 'pending' and queued_at is not null) as found,
        clock_timestamp() as time, ${selectLost(held)} as lost`,
    ),
  );
  if (!row) throw new Error('The statement returned no row.');
  const lost = new Set(row.lost);
  return {
    isAnyQueued: row.found,
    databaseTime: toInstant(row.time),
    lost: held.filter(({ id }) => lost.has(id)),
  };
}

const selectLost = (held: readonly Lease<number>[]) => {
  if (held.length === 0) return sql`null::int[]`;
  const ids = `{${held.map(({ id }) => id).join(',')}}`;
  const tokens = `{${held.map(({ claimToken }) => claimToken).join(',')}}`;
  return sql`array(
    select h.id from unnest(${ids}::int[], ${tokens}::uuid[]) h(id, claim_token)
    left join executions_live e on e.id = h.id and e.claim_token = h.claim_token where e.id is null)`;
};

export async function selectCandidates(
  tx: Context,
  { limit, after }: ClaimOptions,
  limits: ProviderLimits | null = null,
) {
  const limited = limits ? await selectLimited(tx, limits, limit) : [];
  const [, rows] = await Promise.all([
    waitForTurn(tx),
    // A second statement: its snapshot must be taken afterwards.
    selectRunnable(tx, limit - limited.length, after, limits?.others),
  ]);
  const withSlot = rows.filter(({ slot }) => slot !== null);
  const candidates: Candidate[] = [...limited, ...withSlot.filter((row) => row.id !== null)];
  const isFull = withSlot.length < rows.length;
  const last = withSlot.at(-1)?.roundUserId ?? after;
  return { candidates, next: rows.length < limit - limited.length && !isFull ? 0 : last, isFull };
}

type StartingExecution = Candidate & ClaimedExecution;

interface StartInput {
  candidates: readonly Candidate[];
  accounts: ReadonlyMap<number, QuotaAccount>;
  highestCost: HighestCost;
  /** By task, of executions that end in the same transaction. */
  costs?: ReadonlyMap<number, MonthCost>;
  now: Date;
}

/**
 * Candidates remain queued while reserved tokens fill their user's quota. A budget needs no reservation: its row is locked,
 * and its task has no other running execution.
 */
export function decideStarts({ candidates, accounts, highestCost, costs, now }: StartInput) {
  const today = toUtcDay(now);
  const starting: StartingExecution[] = [];
  const refused: { id: number; exceeded: QuotaExceeded }[] = [];
  const usage: UsageDelta[] = [];
  for (const candidate of candidates) {
    const { id, taskId, userId, usageDay } = candidate;
    const tokens = countReservedTokens(candidate);
    const account = accounts.get(userId) as QuotaAccount;
    // Executions count on the day they start, possibly after midnight.
    const isNewDay = usageDay !== today;
    const request = buildRequest(candidate, now);
    const exceeded =
      (isNewDay ? checkQuota(account, now) : checkTokenQuota(account, now)) ??
      checkBudget(addRequest(candidate.budget, request), highestCost, now, {
        addedUsd: getCostOfMonth(costs?.get(taskId), now),
      });
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
    starting.push({ ...candidate, claimToken: randomUUID(), request });
  }
  return { starting, refused, usage };
}

/** Variables and context may have made the prompt longer. */
function addRequest(budget: Budget | null, { system, prompt }: ExecutionRequest): Budget | null {
  return budget && { ...budget, promptBytes: Buffer.byteLength(system ?? '') + Buffer.byteLength(prompt) };
}

/** A second call may repair an answer that does not match the schema, and another one decides its outcome. */
const countReservedTokens = ({ maxTokens, outputSchema, notify }: Candidate) =>
  (outputSchema ? 2 * maxTokens : maxTokens) + (notify === 'news' ? OUTCOME_MAX_TOKENS : 0);

/** Writes neither events nor usage. Plan: executions and tasks by primary key. */
export async function writeStarts(tx: Context, starting: readonly StartingExecution[], now: Date): Promise<void> {
  if (starting.length === 0) return;
  const starts = starting.map((execution) => ({
    id: execution.id,
    slot: execution.slot,
    token: execution.claimToken,
    tokens: countReservedTokens(execution),
    count: execution.isFirstStart ? 1 : 0,
    provider: execution.provider ?? null,
    request: JSON.stringify(execution.request),
  }));
  const at = sql`${now.toISOString()}::timestamptz`;
  afterCommit(tx, () => observeStarts(tx, starting));
  await Promise.all([
    queryRows(
      tx.db,
      sql`
      with started as (
        update executions_live e set status = 'running', started_at = ${at}, slot = s.slot, claim_token = s.token,
          lease_until = ${leaseUntil(tx.config.executionLeaseMs)}, tokens_reserved = s.tokens, usage_day = ${toUtcDay(now)},
          request = s.request::json, provider = s.provider,
          model_attempts = null
        from ${recordset('s', starts, { id: 'int', slot: 'smallint', token: 'uuid', tokens: 'int', count: 'int', provider: 'text', request: 'text' })}
        where e.id = s.id
        returning e.task_id, s.count
      )
      update tasks t set last_execution_at = ${at}, execution_count = t.execution_count + s.count
      from started s where t.id = s.task_id`,
    ),
    markLate(tx, starting, now),
  ]);
}

async function markLate({ db }: Context, starting: readonly Candidate[], now: Date) {
  const late = starting
    .filter(
      ({ trigger, runAt }) => trigger === 'schedule' && now.getTime() - toInstant(runAt).getTime() > LATE_AFTER_MS,
    )
    .map(({ taskId, runAt }) => ({ taskId, plannedFor: runAt }));
  if (late.length === 0) return;
  await db.execute(sql`
    update occurrences o set fate = 'late' from ${recordset('l', late, { taskId: 'int', plannedFor: 'timestamptz' })}
    where o.task_id = l.task_id and o.planned_for = l.planned_for and o.fate = 'ran'`);
}

function observeStarts({ metrics, now }: Context, started: readonly Candidate[]) {
  for (const { trigger, runAt, isFirstStart } of started) {
    if (isFirstStart) metrics.executionStarted(trigger, now().getTime() - toInstant(runAt).getTime());
  }
}

export function recordStartEvents(tx: Context, starting: readonly StartingExecution[], now: Date): void {
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
