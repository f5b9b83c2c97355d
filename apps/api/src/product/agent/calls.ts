import { randomUUID } from 'node:crypto';
import { agentCalls, queryRows, recordset, usageRecords, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted } from '../../errors.ts';
import type { AiUsage } from '../../lib/ai/usage.ts';
import { hasExpiredLease, leaseUntil } from '../../lib/queue/leases.ts';
import { retryWhileUnavailable } from '../../lib/queue/retry.ts';
import { chargeExecution, lockActiveAccount, type QuotaAccount, reserveTokens } from '../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { countFreeCalls, findLimitedProvider } from '../executions/pipeline/provider-limits.ts';
import { recordUsage } from '../usage/record.ts';

/** Time to record the call, also while the database is briefly unavailable. */
const LEASE_MARGIN_MS = 60_000;
/** How long an unavailable database may delay the answer. */
const MAX_RECORD_MS = 5000;
const MAX_WAIT_MS = 1000;
const BATCH_SIZE = 1000;

export interface AgentCall {
  id: string;
  userId: number;
  /** The UTC day whose quota it counts against. */
  day: string;
  model: string;
  inputTokens: number;
  tokensReserved: number;
}

/** Reserves the quota of a call before it is made. Throws 402, 401 for a deleted account, and 503 if its provider is busy. */
export async function startCall(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  { model, inputTokens, maxTokens }: { model: string; inputTokens: number; maxTokens: number },
): Promise<AgentCall> {
  const provider = findLimitedProvider(await ctx.providers.load(), model);
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    // Before the account: the order of a claim.
    if (provider !== null && ((await countFreeCalls(tx, provider)) ?? 1) <= 0) throw providerBusy();
    const account = await lockActiveAccount(tx, caller.id);
    if (!account) throw accountDeleted();
    const usage = chargeExecution(account, now);
    if (!reserveTokens(account, maxTokens)) throw tokensReservedError(account);
    const call: AgentCall = {
      id: randomUUID(),
      userId: caller.id,
      day: usage.day,
      model,
      inputTokens,
      tokensReserved: maxTokens,
    };
    await Promise.all([
      tx.db.insert(agentCalls).values({
        ...call,
        provider,
        leaseUntil: leaseUntil(ctx.config.ai.timeoutMs + LEASE_MARGIN_MS),
        createdAt: now,
      }),
      recordUsage(tx, [{ ...usage, tokensReserved: maxTokens }]),
    ]);
    return call;
  });
}

const BUSY_RETRY_S = 5;

const providerBusy = () =>
  new AppError(
    'provider_failed',
    'The provider has as many calls at once as it may. Try again in a few seconds.',
    { errorCode: 'RATE_LIMIT_EXCEEDED' },
    BUSY_RETRY_S,
  );

function tokensReservedError({ day, month, limits }: QuotaAccount): AppError {
  const inDay = day.tokens + day.tokensReserved >= limits.tokensPerDay;
  const [counter, limit] = inDay ? [day, limits.tokensPerDay] : [month, limits.tokensPerMonth];
  return new AppError(
    'over_quota',
    'Calls in progress have reserved the remaining tokens. Try again in a few seconds.',
    {
      resource: 'tokens',
      used: counter.tokens + counter.tokensReserved,
      limit,
      resetAt: null,
    },
  );
}

/**
 * `store` runs in the transaction of the record, after `lock`, which takes what has to be locked before the account; false if
 * it has failed. Never throws, because the answer has been paid for: a call that cannot be recorded is left to its lease.
 */
export async function completeCall(
  ctx: Context,
  call: AgentCall,
  usage: AiUsage | null,
  store: (tx: Context) => Promise<unknown> = async () => {},
  lock: (tx: Context) => Promise<unknown> = async () => {},
): Promise<boolean> {
  const logError = (error: unknown, message: string) => ctx.log.error({ err: error, userId: call.userId }, message);
  try {
    const record = async (tx: Context) => {
      await lock(tx);
      await recordCall(tx, call, usage);
      await store(tx);
    };
    await retryWhileUnavailable(() => inTransaction(ctx, record), {
      maxWaitMs: MAX_WAIT_MS,
      signal: AbortSignal.timeout(MAX_RECORD_MS),
      onRetry: (error) => logError(error, 'recording an agent call failed'),
    });
    return true;
  } catch (error) {
    logError(error, 'recording an agent call failed: taken over when its lease expires');
    return false;
  }
}

/** A rescue deletes the row. Locks the account first, as its deletion does. */
async function recordCall(ctx: Context, { id, userId, day, tokensReserved }: AgentCall, usage: AiUsage | null) {
  const [, { count }] = await Promise.all([
    ctx.db.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('key share'),
    ctx.db.delete(agentCalls).where(eq(agentCalls.id, id)),
  ]);
  if (count === 0) return;
  const { inputTokens = 0, outputTokens = 0, model = null, estimated = false, costUsd = 0 } = usage ?? {};
  const { toolUses = 0, toolCostUsd = 0, provider = null } = usage ?? {};
  const call = { userId, day, model, provider, inputTokens, outputTokens, estimated, costUsd };
  const record = { ...call, toolUses, toolCostUsd, createdAt: ctx.now() };
  await Promise.all([
    ctx.db.insert(usageRecords).values({ ...record, source: 'agent', executions: 1 }),
    recordUsage(ctx, [{ userId, day, tokens: inputTokens + outputTokens, tokensReserved: -tokensReserved, costUsd }]),
  ]);
  afterCommit(ctx, () => ctx.metrics.usageRecorded(record));
}

/** Records the calls of dead processes as estimates of their input. Returns how many. */
export async function rescueAgentCalls(ctx: Context): Promise<number> {
  const [expired] = await queryRows(ctx.db, sql`select from agent_calls c where ${hasExpiredLease('c')} limit 1`);
  if (!expired) return 0;
  const rescued = await inTransaction(ctx, async (tx) => {
    const now = tx.now().toISOString();
    const lost = await queryRows<AgentCall>(
      tx.db,
      sql`
      delete from agent_calls where id in (
        select c.id from agent_calls c join users u on u.id = c.user_id where ${hasExpiredLease('c')}
        order by c.lease_until limit ${BATCH_SIZE} for key share of u skip locked for update of c skip locked)
      returning id, user_id, day, model, input_tokens, tokens_reserved`,
    );
    if (lost.length === 0) return 0;
    await Promise.all([
      tx.db.execute(sql`
        insert into usage_records (user_id, source, day, executions, model, input_tokens, output_tokens, estimated,
          cost_usd, created_at)
        select l.user_id, 'agent', l.day, 1, l.model, l.input_tokens, 0, true, 0, ${now}::timestamptz
        from ${recordset('l', lost, { userId: 'int', day: 'date', model: 'text', inputTokens: 'int' })}`),
      recordUsage(
        tx,
        lost.map(({ userId, day, inputTokens, tokensReserved }) => ({
          userId,
          day,
          tokens: inputTokens,
          tokensReserved: -tokensReserved,
        })),
      ),
    ]);
    afterCommit(tx, () => {
      ctx.metrics.takenOver('agent_calls', lost.length);
      for (const { inputTokens } of lost) {
        ctx.metrics.usageRecorded({ inputTokens, outputTokens: 0, estimated: true, costUsd: 0 });
      }
    });
    return lost.length;
  });
  if (rescued > 0) ctx.log.warn({ calls: rescued }, 'agent calls of a dead process were recorded as estimates');
  return rescued;
}
