import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { AiUsage } from '../../ai/usage.ts';
import { afterCommit, type Context, inTransaction } from '../../context.ts';
import {
  hasExpiredLease,
  isLeased,
  type Lease,
  type LeasedTable,
  RELEASE_LEASE,
  renewLeases,
} from '../../queue/leases.ts';
import { recordUsage } from '../../usage/record.ts';
import { completeExecutions } from './complete.ts';
import { permanentFailure } from './execution-result.ts';
import { promptTokens, requestedModel } from './prompt-tokens.ts';

/** Beyond this the execution itself may be what kills the process. */
const MAX_INTERRUPTIONS = 3;
const EXECUTIONS: LeasedTable<number> = { name: 'executions', alias: 'e', idType: 'int' };

export function renewExecutions(ctx: Context, leases: readonly Lease<number>[]): Promise<Set<number>> {
  return renewLeases(ctx.db, EXECUTIONS, leases, ctx.config.executionLeaseMs);
}

/** Queues the executions of dead processes again and returns their ids; fails those interrupted too often. */
export async function rescueExecutions(ctx: Context): Promise<number[]> {
  const isExpired = hasExpiredLease('e');
  const rescued = await inTransaction(ctx, async (tx) => {
    const exhausted = await queryRows<Lease<number> & { tokens: number; model: string }>(
      tx.db,
      sql`
      select e.id, e.claim_token, ${promptTokens} as tokens, ${requestedModel} as model
      from executions e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${isExpired} and e.interruptions >= ${MAX_INTERRUPTIONS}
      for no key update of t, e skip locked`,
    );
    await completeExecutions(
      tx,
      exhausted.map(({ id, claimToken, tokens, model }) => ({
        id,
        claimToken,
        durationMs: null,
        usage: estimateUsage(model, tokens),
        ...permanentFailure('INTERRUPTED', 'The process that ran it died, more than once.'),
      })),
    );
    const requeued = await requeue(tx, isExpired, { isInterruption: true });
    afterCommit(tx, () => ctx.metrics.takenOver('executions', exhausted.length + requeued.length));
    return requeued;
  });
  if (rescued.length > 0) ctx.worker.wakeExecutions();
  return rescued;
}

export async function handBackExecutions(ctx: Context, leases: readonly Lease<number>[]): Promise<void> {
  if (leases.length === 0) return;
  await inTransaction(ctx, (tx) => requeue(tx, isLeased(EXECUTIONS, leases), { isInterruption: false }));
}

/** No quota counts the next start again; the provider may have billed the interrupted call, recorded as an estimate. */
async function requeue(tx: Context, condition: SQL, { isInterruption }: { isInterruption: boolean }) {
  const now = tx.now().toISOString();
  const requeued = await queryRows<{
    id: number;
    userId: number;
    day: string;
    reserved: number;
    model: string;
    tokens: number;
  }>(
    tx.db,
    sql`
    with found as (
      select e.id, e.user_id, e.usage_day, e.tokens_reserved, ${requestedModel} as ai_model, ${promptTokens} as tokens
      from executions e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${condition} for no key update of t, e skip locked
    ), requeued as (
      update executions e set status = 'pending', queued_at = ${now}, ${RELEASE_LEASE},
        tokens_reserved = 0, interruptions = e.interruptions + ${isInterruption ? 1 : 0},
        interrupted_at = ${isInterruption ? sql`array_append(e.interrupted_at, ${now}::timestamptz)` : sql`e.interrupted_at`}
      from found where e.id = found.id
    ), recorded as (
      insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
        estimated, cost_usd, created_at)
      select user_id, id, 'interrupted', usage_day, 0, ai_model, tokens, 0, true, 0, ${now}::timestamptz from found
    )
    select id, user_id, usage_day as day, tokens_reserved as reserved, ai_model as model, tokens from found`,
  );
  await recordUsage(
    tx,
    requeued.map(({ userId, day, reserved, tokens }) => ({ userId, day, tokens, tokensReserved: -reserved })),
  );
  afterCommit(tx, () => {
    for (const { model, tokens } of requeued) tx.metrics.usageRecorded(estimateUsage(model, tokens));
  });
  return requeued.map(({ id }) => id);
}

const estimateUsage = (model: string, inputTokens: number): AiUsage => ({
  model,
  inputTokens,
  outputTokens: 0,
  estimated: true,
  costUsd: 0,
});
