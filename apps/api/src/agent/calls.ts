import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { agentCalls, isTransient, queryRows, recordset, usageRecords, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { AiUsage } from '../ai/usage.ts';
import { afterCommit, type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, accountDeleted } from '../errors.ts';
import { chargeExecution, lockActiveAccount, type QuotaAccount, reserveTokens } from '../limits/quotas.ts';
import { recordUsage } from '../usage/record.ts';

/** How much longer than its call a lease lasts: time to book the call, also while the database is away for a moment. */
const LEASE_MARGIN_MS = 60_000;
/** How long an answer is kept waiting for a database that is away. */
const PATIENCE_MS = 5000;
const LONGEST_WAIT_MS = 1000;
/** Calls that one statement takes over. */
const BATCH = 1000;

/** A call that is under way, and what it holds of the quotas. */
export interface Call {
  id: string;
  userId: number;
  /** The UTC day whose quotas it counts against. */
  day: string;
  model: string;
  /** The estimate of what is sent. */
  inputTokens: number;
  tokensReserved: number;
}

/**
 * Counts a call as an execution and reserves its tokens, before it is made (decisions §9). Refusals: 402 over quota,
 * also while the calls under way have reserved the tokens that are left; 401 for an account that is gone.
 */
export function beginCall(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  { model, inputTokens, maxTokens }: { model: string; inputTokens: number; maxTokens: number },
): Promise<Call> {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const account = await lockActiveAccount(tx, caller.id);
    if (!account) throw accountDeleted();
    const usage = chargeExecution(account, now);
    if (!reserveTokens(account, maxTokens)) throw allReserved(account);
    const call: Call = {
      id: randomUUID(),
      userId: caller.id,
      day: usage.day,
      model,
      inputTokens,
      tokensReserved: maxTokens,
    };
    const leaseUntil = new Date(now.getTime() + ctx.config.ai.timeoutMs + LEASE_MARGIN_MS);
    await Promise.all([
      tx.db.insert(agentCalls).values({ ...call, leaseUntil, createdAt: now }),
      recordUsage(tx, [{ ...usage, tokensReserved: maxTokens }]),
    ]);
    return call;
  });
}

function allReserved({ day, month, limits }: QuotaAccount): AppError {
  const inDay = day.tokens + day.tokensReserved >= limits.tokensPerDay;
  const [counter, limit] = inDay ? [day, limits.tokensPerDay] : [month, limits.tokensPerMonth];
  return new AppError('over_quota', 'Calls under way have reserved the tokens that are left: try again shortly.', {
    resource: 'tokens',
    used: counter.tokens + counter.tokensReserved,
    limit,
    resetAt: null,
  });
}

/**
 * Books what a call has used and gives back what it had reserved. While the database is away it tries for 5 s; then the
 * call is left to its lease. Never throws: the answer that was paid for is worth more than its entry.
 */
export async function endCall(ctx: Context, call: Call, usage: AiUsage | null): Promise<void> {
  const startedAt = performance.now();
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await inTransaction(ctx, (tx) => bookCall(tx, call, usage));
    } catch (error) {
      const isLast = !isTransient(error) || performance.now() - startedAt > PATIENCE_MS;
      ctx.log.error(
        { err: error, userId: call.userId },
        isLast ? 'a call was left to its lease' : 'a call was not booked',
      );
      if (isLast) return;
      await delay(wait);
    }
  }
}

/**
 * Deleting the row is the fence: a call that was taken over meanwhile, or whose account is gone, is not billed again. The
 * account's row is held first, as by whoever deletes that: it waits for no call that waits for it.
 */
async function bookCall(ctx: Context, { id, userId, day, tokensReserved }: Call, usage: AiUsage | null) {
  const held = ctx.db.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('key share');
  const call = ctx.db.delete(agentCalls).where(eq(agentCalls.id, id)).returning({ id: agentCalls.id });
  const [, gone] = await Promise.all([held, call]);
  if (gone.length === 0) return;
  const { inputTokens = 0, outputTokens = 0, model = null, estimated = false, costUsd = 0 } = usage ?? {};
  const record = { userId, day, model, inputTokens, outputTokens, estimated, costUsd, createdAt: ctx.now() };
  await Promise.all([
    ctx.db.insert(usageRecords).values({ ...record, source: 'agent', executions: 1 }),
    recordUsage(ctx, [{ userId, day, tokens: inputTokens + outputTokens, tokensReserved: -tokensReserved }]),
  ]);
  afterCommit(ctx, () => ctx.metrics.usageRecorded(record));
}

/**
 * Books the calls whose process died, each as what it had sent, estimated, and gives back what they had reserved.
 * Returns how many.
 */
export async function rescueAgentCalls(ctx: Context): Promise<number> {
  const rescued = await inTransaction(ctx, async (tx) => {
    const now = tx.now().toISOString();
    const lost = await queryRows<Call>(
      tx.db,
      sql`
      delete from agent_calls where id in (
        select c.id from agent_calls c join users u on u.id = c.user_id where c.lease_until < ${now}
        order by c.lease_until limit ${BATCH} for key share of u skip locked for update of c skip locked)
      returning id, user_id as "userId", day, model, input_tokens as "inputTokens",
        tokens_reserved as "tokensReserved"`,
    );
    if (lost.length === 0) return 0;
    await Promise.all([
      tx.db.execute(sql`
        insert into usage_records (user_id, source, day, executions, model, input_tokens, output_tokens, estimated,
          cost_usd, created_at)
        select "userId", 'agent', day, 1, model, "inputTokens", 0, true, 0, ${now}::timestamptz
        from jsonb_to_recordset(${recordset(lost)}::jsonb)
          as l("userId" int, day date, model text, "inputTokens" int)`),
      recordUsage(
        tx,
        lost.map(({ userId, day, inputTokens, tokensReserved }) => {
          return { userId, day, tokens: inputTokens, tokensReserved: -tokensReserved };
        }),
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
  if (rescued > 0) ctx.log.warn({ calls: rescued }, 'agent calls of a process that died were booked as estimates');
  return rescued;
}
