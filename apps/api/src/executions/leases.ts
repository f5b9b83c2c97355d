import { queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import { afterCommit, type Context, inTransaction } from '../context.ts';
import { recordUsage } from '../usage/record.ts';
import { completeExecutions } from './complete.ts';
import { permanentFailure } from './execution-result.ts';

/** An execution that was interrupted more often than this fails: it may be what kills the process. */
const MAX_INTERRUPTIONS = 3;

/** Our claim on a running execution. */
export interface Lease {
  id: number;
  claimToken: string;
}

/**
 * Renews the leases for another `EXECUTION_LEASE_MS` and returns the ids that are still ours. What is missing was
 * taken over or deleted: its run has to be given up. A row that another transaction holds, ours that ends the run
 * perhaps, is not waited for: two that each wait for several rows could wait for each other.
 */
export async function renewLeases(ctx: Context, leases: readonly Lease[]): Promise<Set<number>> {
  const until = new Date(ctx.now().getTime() + ctx.config.executionLeaseMs).toISOString();
  const held = await queryRows<{ id: number }>(
    ctx.db,
    sql`
    with mine as (
      select id, "claimToken" as token from jsonb_to_recordset(${recordset(leases)}::jsonb) as l(id int, "claimToken" uuid)
    ), free as (
      select e.id from executions e join mine using (id) where e.claim_token = mine.token
      for no key update of e skip locked
    ), renewed as (
      update executions e set lease_until = ${until} from free where e.id = free.id
    )
    select e.id from executions e join mine using (id) where e.claim_token = mine.token`,
  );
  return new Set(held.map(({ id }) => id));
}

/**
 * Takes over executions whose leases have expired: queues them again, or fails them as `INTERRUPTED` if they were
 * interrupted too often. Returns the ids that are queued again.
 */
export async function rescueExpired(ctx: Context): Promise<number[]> {
  const expired = sql`e.lease_until < ${ctx.now().toISOString()}`;
  const rescued = await inTransaction(ctx, async (tx) => {
    const lost = await queryRows<Lease & { tokens: number; model: string }>(
      tx.db,
      sql`
      select e.id, e.claim_token as "claimToken", ceil(length(t.prompt) / 4.0)::int as tokens, t.ai_model as model
      from executions e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${expired} and e.interruptions >= ${MAX_INTERRUPTIONS}
      for no key update of t, e skip locked`,
    );
    await completeExecutions(
      tx,
      lost.map(({ id, claimToken, tokens, model }) => ({
        id,
        claimToken,
        durationMs: null,
        usage: { model, ...estimateUsage(tokens) },
        ...permanentFailure('INTERRUPTED', 'The process that ran it died, more than once.'),
      })),
    );
    const requeued = await requeue(tx, expired, { interrupted: true });
    afterCommit(tx, () => ctx.metrics.takenOver('executions', lost.length + requeued.length));
    return requeued;
  });
  if (rescued.length > 0) ctx.worker.wakeExecutions();
  return rescued;
}

/** Returns executions of this process to the queue, so that another process runs them at once. */
export async function handBack(ctx: Context, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  const ours = sql`(e.id, e.claim_token) in (
    select id, "claimToken" from jsonb_to_recordset(${recordset(leases)}::jsonb) as l(id int, "claimToken" uuid))`;
  await inTransaction(ctx, (tx) => requeue(tx, ours, { interrupted: false }));
}

/**
 * Queues running executions again and releases their reserved tokens. The provider may have billed the call that was
 * cut off, so its input is recorded as an estimate. Running again counts as the same execution.
 */
async function requeue(ctx: Context, which: SQL, { interrupted }: { interrupted: boolean }): Promise<number[]> {
  const now = ctx.now().toISOString();
  const requeued = await queryRows<{ id: number; userId: number; day: string; reserved: number; tokens: number }>(
    ctx.db,
    sql`
    with found as (
      select e.id, e.user_id, e.usage_day, e.tokens_reserved, t.ai_model, ceil(length(t.prompt) / 4.0)::int as tokens
      from executions e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${which} for no key update of t, e skip locked
    ), requeued as (
      update executions e set status = 'pending', queued_at = ${now}, claim_token = null, lease_until = null,
        tokens_reserved = 0, interruptions = e.interruptions + ${interrupted ? 1 : 0},
        interrupted_at = ${interrupted ? sql`array_append(e.interrupted_at, ${now}::timestamptz)` : sql`e.interrupted_at`}
      from found where e.id = found.id
    ), recorded as (
      insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
        estimated, cost_usd, created_at)
      select user_id, id, 'interrupted', usage_day, 0, ai_model, tokens, 0, true, 0, ${now}::timestamptz from found
    )
    select id, user_id as "userId", usage_day as day, tokens_reserved as reserved, tokens from found`,
  );
  await recordUsage(
    ctx,
    requeued.map(({ userId, day, reserved, tokens }) => ({ userId, day, tokens, tokensReserved: -reserved })),
  );
  afterCommit(ctx, () => {
    for (const { tokens } of requeued) ctx.metrics.usageRecorded(estimateUsage(tokens));
  });
  return requeued.map(({ id }) => id);
}

const estimateUsage = (inputTokens: number) => ({ inputTokens, outputTokens: 0, estimated: true, costUsd: 0 });
