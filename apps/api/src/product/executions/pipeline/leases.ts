import { queryRows, recordset, toInstant } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import {
  hasExpiredLease,
  isLeased,
  type Lease,
  type LeasedTable,
  RELEASE_LEASE,
  renewLeases,
} from '../../../lib/queue/leases.ts';
import { toUtcMonth } from '../../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { recordUsage } from '../../usage/record.ts';
import { addMonthCost, addUsage, type LostCall, promptTokens, requestedModel } from '../budget/costs.ts';
import { completeExecutions } from './complete.ts';
import { permanentFailure } from './execution-result.ts';

/** Beyond this the execution itself may be what kills the process. */
const MAX_INTERRUPTIONS = 3;
const EXECUTIONS: LeasedTable<number> = { name: 'executions_live', alias: 'e', idType: 'int' };

export function renewExecutions(ctx: Context, leases: readonly Lease<number>[]): Promise<Set<number>> {
  return inTransaction(ctx, (tx) => renewLeases(tx.db, EXECUTIONS, leases, ctx.config.executionLeaseMs));
}

/** Queues the executions of dead processes again and returns their ids; fails those interrupted too often. */
export async function rescueExecutions(ctx: Context): Promise<number[]> {
  const isExpired = hasExpiredLease('e');
  const rescued = await inTransaction(ctx, async (tx) => {
    const exhausted = await queryRows<Lease<number> & LostCall>(
      tx.db,
      sql`
      select e.id, e.claim_token, ${promptTokens} as tokens, ${requestedModel} as model
      from executions_live e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${isExpired} and e.interruptions >= ${MAX_INTERRUPTIONS}
      for no key update of t, e skip locked`,
    );
    const priced = await addUsage(tx, exhausted);
    await completeExecutions(
      tx,
      priced.map(({ id, claimToken, usage }) => ({
        id,
        claimToken,
        durationMs: null,
        usage,
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
  const found = await queryRows<
    LostCall & { id: number; taskId: number; userId: number; day: string; reserved: number }
  >(
    tx.db,
    sql`
    with found as (
      select e.id, e.task_id, e.user_id, e.usage_day, e.tokens_reserved, ${requestedModel} as ai_model, ${promptTokens} as tokens
      from executions_live e join tasks t on t.id = e.task_id
      where e.status = 'running' and ${condition} for no key update of t, e skip locked
    ), requeued as (
      update executions_live e set status = 'pending', queued_at = ${now}, slot = null, ${RELEASE_LEASE},
        tokens_reserved = 0, interruptions = e.interruptions + ${isInterruption ? 1 : 0},
        interrupted_at = ${isInterruption ? sql`array_append(e.interrupted_at, ${now}::timestamptz)` : sql`e.interrupted_at`}
      from found where e.id = found.id
    )
    select id, task_id, user_id, usage_day as day, tokens_reserved as reserved, ai_model as model, tokens from found`,
  );
  const requeued = await addUsage(tx, found);
  await recordUsage(
    tx,
    requeued.map(({ userId, day, reserved, tokens, usage: { costUsd } }) => ({
      userId,
      day,
      tokens,
      tokensReserved: -reserved,
      costUsd,
    })),
  );
  await recordInterrupted(tx, requeued);
  afterCommit(tx, () => {
    for (const { usage } of requeued) tx.metrics.usageRecorded(usage);
  });
  return requeued.map(({ id }) => id);
}

type Interrupted = LostCall & { id: number; taskId: number; userId: number; day: string; usage: AiUsage };

/** In the usage records, and in what the task has spent. A task has one running execution. */
async function recordInterrupted(tx: Context, requeued: readonly Interrupted[]) {
  if (requeued.length === 0) return;
  const records = requeued.map(({ id, taskId, userId, day, model, tokens, usage: { costUsd } }) => ({
    id,
    taskId,
    userId,
    day,
    month: toUtcMonth(day),
    model,
    tokens,
    cost: costUsd,
  }));
  await tx.db.execute(sql`
    with lost as materialized (
      select * from ${recordset('l', records, {
        id: 'int',
        taskId: 'int',
        userId: 'int',
        day: 'date',
        month: 'text',
        model: 'text',
        tokens: 'int',
        cost: 'float8',
      })}
    ), spent as (
      update tasks t set ${addMonthCost(sql`l.month`, sql`l.cost`)} from lost l where t.id = l.task_id
    )
    insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
      estimated, cost_usd, created_at)
    select user_id, id, 'interrupted', day, 0, model, tokens, 0, true, cost, ${tx.now().toISOString()}::timestamptz from lost`);
}

const isQueued = sql`exists (select from executions_live where status = 'pending' and queued_at is not null)`;

/** Plan: one entry of `executions_queued`. */
export async function isAnyQueued(ctx: Context): Promise<boolean> {
  const [row] = await inTransaction(ctx, ({ db }) =>
    queryRows<{ found: boolean }>(db, sql`select ${isQueued} as found`),
  );
  return row?.found ?? false;
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
      sql`select ${isQueued} as found,
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
