import type { ERROR_CODES } from '@carillon/db';
import { queryRows, recordset, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { AiUsage } from '../ai/usage.ts';
import { afterCommit, type Context } from '../context.ts';
import { type QuotaExceeded, quotaExceededError, toUtcDay } from '../limits/quotas.ts';
import { recordUsage, type UsageDelta } from '../usage/record.ts';
import { concludeExecutions, type Ended } from './conclude.ts';

export type Outcome =
  | { ok: true; text: string }
  | {
      ok: false;
      errorCode: (typeof ERROR_CODES)[number];
      message: string;
      retryable: boolean;
      retryAfterMs: number | null;
    };

/** How an execution ended. `claimToken` is that of its lease, or null for one that never started. */
export interface End {
  id: number;
  claimToken: string | null;
  outcome: Outcome;
  usage: AiUsage | null;
  durationMs: number | null;
}

/** An execution whose row says that it has ended; its usage is still to be booked, and what follows to be written. */
export interface Settled extends Ended {
  endedAt: Date;
  claimToken: string | null;
  usageDay: string | null;
  tokensReserved: number;
}

type SettledRow = Omit<Settled, 'endedAt' | 'outcome' | 'durationMs' | 'usage' | 'plannedFor' | 'startedAt'> & {
  plannedFor: string | null;
  startedAt: string | null;
};

/**
 * Ends executions, with everything that follows from it, in the caller's transaction: result, tokens and cost, the
 * retry where one is due, the task's state, the quota and the events (decisions §5, §8, §9).
 *
 * The claim token is the fence: a run that another worker has taken over meanwhile, or whose task was deleted, is
 * neither finished nor billed. Returns the ids that really ended.
 */
export async function settleExecutions(ctx: Context, ends: readonly End[]): Promise<number[]> {
  const ended = await writeEnds(ctx, ends);
  await Promise.all([recordUsage(ctx, usageOf(ended)), followEnds(ctx, ended)]);
  return ended.map(({ id }) => id);
}

/** Ends pending executions as `QUOTA_EXCEEDED`: they never start, and what they held of a quota is given back. */
export async function refuseExecutions(ctx: Context, refused: readonly { id: number; breach: QuotaExceeded }[]) {
  await settleExecutions(
    ctx,
    refused.map(({ id, breach }) => ({
      id,
      claimToken: null,
      durationMs: null,
      usage: null,
      outcome: {
        ok: false,
        errorCode: 'QUOTA_EXCEEDED',
        message: quotaExceededError(breach).message,
        retryable: false,
        retryAfterMs: null,
      },
    })),
  );
}

/** One execution may have ended under two claims, of which one counts. */
const keyOf = ({ id, claimToken }: Pick<End, 'id' | 'claimToken'>) => `${id} ${claimToken}`;
const totalTokens = (usage: AiUsage | null) => (usage ? usage.inputTokens + usage.outputTokens : 0);

/**
 * The first half of `settleExecutions`, for a transaction that books the usage of more than these: writes how they ended,
 * and returns those that really did. The task's row is locked before its execution's, the order in which every other
 * transaction takes them.
 */
export async function writeEnds(ctx: Context, ends: readonly End[]): Promise<Settled[]> {
  if (ends.length === 0) return [];
  const endedAt = ctx.now();
  const now = endedAt.toISOString();
  const values = ends.map(({ id, claimToken, outcome, usage, durationMs }) => ({
    id,
    token: claimToken,
    status: outcome.ok ? 'completed' : 'failed',
    result: outcome.ok ? outcome.text : null,
    error: outcome.ok ? null : outcome.message,
    code: outcome.ok ? null : outcome.errorCode,
    model: usage?.model ?? null,
    input: usage?.inputTokens ?? null,
    output: usage?.outputTokens ?? null,
    estimated: usage?.estimated ?? false,
    cost: usage?.costUsd ?? null,
    ms: durationMs === null ? null : Math.round(durationMs),
  }));
  const settled = await queryRows<SettledRow>(
    ctx.db,
    sql`
    with ends as (
      select * from jsonb_to_recordset(${recordset(values)}::jsonb) as ends(id int, token uuid, status text,
        result text, error text, code text, model text, input int, output int, estimated boolean, cost float8, ms int)
    ), held as (
      select t.id, t.name, t.status, t.recurrence, t.next_execution_at, t.consecutive_failures,
        t.notification_email from tasks t
      where t.id in (select e.task_id from executions e join ends using (id)) order by t.id for no key update
    )
    update executions e set status = ends.status, completed_at = ${now}, claim_token = null,
      lease_until = null, tokens_reserved = 0, result = ends.result, error = ends.error, error_code = ends.code,
      model = ends.model, input_tokens = ends.input, output_tokens = ends.output, tokens_estimated = ends.estimated,
      cost_usd = ends.cost, processing_time_ms = ends.ms, queued_at = coalesce(e.queued_at, ${now}),
      usage_day = case when ends.token is not null then e.usage_day end
    from ends join executions was using (id) join held on held.id = was.task_id
    where e.id = ends.id and case when ends.token is null
      then e.status = 'pending' else e.status = 'running' and e.claim_token = ends.token end
    returning e.id, ends.token as "claimToken", e.task_id as "taskId", e.user_id as "userId", e.trigger,
      e.via_webhook as "viaWebhook", e.planned_for as "plannedFor", e.attempt, e.started_at as "startedAt",
      was.usage_day as "usageDay", was.tokens_reserved as "tokensReserved",
      held.name as "taskName", held.notification_email as "notificationEmail", held.status as "taskStatus",
      held.recurrence,
      held.next_execution_at is not null as "hasNext", held.consecutive_failures as "consecutiveFailures"`,
  );
  const endOf = new Map(ends.map((end) => [keyOf(end), end]));
  return settled.map((row) => {
    const { outcome, usage, durationMs } = endOf.get(keyOf(row)) as End;
    const [plannedFor, startedAt] = [toInstantOrNull(row.plannedFor), toInstantOrNull(row.startedAt)];
    return { ...row, plannedFor, startedAt, endedAt, outcome, usage, durationMs };
  });
}

/** What the ends change in the counters of their users, for `addUsage`. */
export const usageOf = (settled: readonly Settled[]): UsageDelta[] =>
  settled.flatMap(
    ({ userId, usageDay, startedAt, endedAt, usage, tokensReserved, claimToken, outcome }): UsageDelta[] => {
      // The day that the row keeps: that of its start, else that of its end.
      const day = (claimToken !== null && usageDay) || toUtcDay(endedAt);
      const end = { userId, day, ...(outcome.ok ? { completed: 1 } : { failed: 1 }) };
      if (usageDay === null) return [end];
      if (startedAt === null) return [end, { userId, day: usageDay, executions: -1 }];
      return [end, { userId, day: usageDay, tokens: totalTokens(usage), tokensReserved: -tokensReserved }];
    },
  );

/** Writes what follows from the ends, but for the counters: the usage ledger, retries, tasks, events. */
export async function followEnds(ctx: Context, settled: readonly Settled[]): Promise<void> {
  const billed = settled.filter(({ startedAt, usageDay }) => startedAt !== null && usageDay !== null);
  await Promise.all([insertUsageRecords(ctx, billed), concludeExecutions(ctx, settled)]);
  afterCommit(ctx, () => {
    for (const one of settled) ctx.metrics.executionEnded(one);
    for (const { usage } of billed) if (usage) ctx.metrics.usageRecorded(usage);
  });
}

async function insertUsageRecords(ctx: Context, billed: readonly Settled[]) {
  if (billed.length === 0) return;
  const records = billed.map(({ id, userId, usageDay, endedAt, usage }) => ({
    user_id: userId,
    execution_id: id,
    day: usageDay,
    at: endedAt,
    model: usage?.model ?? null,
    input: usage?.inputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    estimated: usage?.estimated ?? false,
    cost: usage?.costUsd ?? 0,
  }));
  await ctx.db.execute(sql`
    insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
      estimated, cost_usd, created_at)
    select user_id, execution_id, 'execution', day, 1, model, input, output, estimated, cost, at
    from jsonb_to_recordset(${recordset(records)}::jsonb) as r(user_id int, execution_id int, day date, model text,
      input int, output int, estimated boolean, cost float8, at timestamptz)`);
}
