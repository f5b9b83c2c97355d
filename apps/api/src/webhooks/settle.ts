import { setTimeout as delay } from 'node:timers/promises';
import { isTransient, queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context, inTransaction } from '../context.ts';
import { notifyUsers } from '../notifications/notify.ts';
import type { Attempt } from './deliver.ts';

const LONGEST_WAIT_MS = 5000;

interface Settled {
  id: string;
  attemptId: string;
  webhookId: string;
  /** No attempt is left. */
  isLast: boolean;
  error: string | null;
}

/**
 * Writes what became of attempts, with all that follows: the log, the wait before the next attempt, and after the last
 * one a failed webhook, whose open deliveries end and whose owner is told, once (specification "Webhook state";
 * decisions §8). In the caller's transaction; the claim token is the fence, as for executions. Returns the ids of the
 * deliveries that it wrote of.
 */
export async function settleAttempts(ctx: Context, attempts: readonly Attempt[]): Promise<string[]> {
  if (attempts.length === 0) return [];
  const news = attempts.filter(({ success, lastAttemptOk }) => !success || lastAttemptOk !== true);
  // One connection runs them in this order: webhooks before their deliveries, as in every other transaction.
  const [, , settled] = await Promise.all([
    news.length > 0 && lockWebhooks(ctx, news),
    news.length > 0 && rememberAnswers(ctx, attempts),
    writeAttempts(ctx, attempts),
  ]);
  await failWebhooks(
    ctx,
    settled.filter(({ isLast }) => isLast),
  );
  const logged = new Set(settled.map(({ attemptId }) => attemptId));
  afterCommit(ctx, () => {
    for (const attempt of attempts) if (logged.has(attempt.id)) ctx.metrics.attemptEnded(attempt);
  });
  return settled.map(({ id }) => id);
}

/** Settles attempts however long the database is away. What cannot be stored at all is left to its lease, alone. */
export async function storeAttempts(ctx: Context, attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      await inTransaction(ctx, (tx) => settleAttempts(tx, attempts));
      return;
    } catch (error) {
      const isOurs = !isTransient(error);
      if ((isOurs && attempts.length === 1) || signal.aborted) throw error;
      ctx.log.error({ err: error, attempts: attempts.length }, 'attempts of deliveries could not be stored');
      if (isOurs) return storeApart(ctx, attempts, signal);
      await delay(wait, undefined, { signal }).catch(() => {});
    }
  }
}

async function storeApart(ctx: Context, attempts: readonly Attempt[], signal: AbortSignal) {
  for (const attempt of attempts) {
    await storeAttempts(ctx, [attempt], signal).catch((error) => {
      ctx.log.error({ err: error, deliveryId: attempt.deliveryId }, 'a delivery was left to its lease');
    });
  }
}

async function writeAttempts(ctx: Context, attempts: readonly Attempt[]): Promise<Settled[]> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const values = attempts.map((one) => ({
    ...{ id: one.deliveryId, token: one.claimToken, log_id: one.id, url: one.url, number: one.attempt, at: one.at },
    ...{ success: one.success, status_code: one.statusCode, error: one.error, ms: one.responseTimeMs },
    retry_at: retryTime(ctx, one, now),
  }));
  return queryRows<Settled>(
    ctx.db,
    sql`
    with settled as (
      update deliveries d set attempt = a.number, previous_attempt_at = a.at, claim_token = null, lease_until = null,
        status = s.status, next_attempt_at = case when s.status = 'pending' then a.retry_at end,
        ended_at = case when s.status <> 'pending' then ${at} end
      from jsonb_to_recordset(${recordset(values)}::jsonb) as a(id uuid, token uuid, log_id uuid, url text, number int,
          at timestamptz, success boolean, status_code int, error text, ms int, retry_at timestamptz)
        join deliveries was on was.id = a.id join webhooks h on h.id = was.webhook_id
        cross join lateral (select case when a.success then 'delivered'
          when a.retry_at is null or h.status = 'failed' then 'failed' else 'pending' end as status) s
      where d.id = a.id and d.claim_token = a.token
      returning d.id, d.webhook_id, d.event, a.log_id, a.url, a.number, a.at, a.success, a.status_code, a.error, a.ms,
        not a.success and a.retry_at is null and d.event <> 'test' as is_last
    ), logged as (
      insert into delivery_attempts (id, delivery_id, webhook_id, event, url, attempt, success, status_code, error,
        response_time_ms, attempted_at)
      select log_id, id, webhook_id, event, url, number, success, status_code, error, ms, at from settled
    )
    select id, log_id as "attemptId", webhook_id as "webhookId", is_last as "isLast", error from settled`,
  );
}

/** Counted from the end of the attempt; null when none is left. A test is made once. */
function retryTime(ctx: Context, { success, attempt, event }: Attempt, now: Date): Date | null {
  const wait = ctx.config.webhookRetryDelaysMs[attempt];
  return success || wait === undefined || event === 'test' ? null : new Date(now.getTime() + wait);
}

function lockWebhooks(ctx: Context, attempts: readonly Attempt[]) {
  const ids = uuids(attempts.map(({ webhookId }) => webhookId));
  return queryRows(ctx.db, sql`select from webhooks where id = any(${ids}) order by id for no key update`);
}

/** Of several attempts to one webhook the one that began last says how it is. */
function rememberAnswers(ctx: Context, attempts: readonly Attempt[]) {
  const inOrder = attempts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const answers = new Map(inOrder.map(({ webhookId, success }) => [webhookId, success]));
  const values = recordset([...answers].map(([id, ok]) => ({ id, ok })));
  return queryRows(
    ctx.db,
    sql`
    update webhooks h set last_attempt_ok = a.ok
    from jsonb_to_recordset(${values}::jsonb) as a(id uuid, ok boolean)
    where h.id = a.id and h.last_attempt_ok is distinct from a.ok`,
  );
}

async function failWebhooks(ctx: Context, exhausted: readonly Settled[]) {
  if (exhausted.length === 0) return;
  const errors = new Map(exhausted.map(({ webhookId, error }) => [webhookId, error]));
  const now = ctx.now().toISOString();
  const failed = await queryRows<{ id: string; userId: number; url: string; taskName: string | null }>(
    ctx.db,
    sql`update webhooks set status = 'failed', updated_at = ${now}
      where id = any(${uuids([...errors.keys()])}) and status = 'active'
      returning id, user_id as "userId", url, (select name from tasks t where t.id = task_id) as "taskName"`,
  );
  if (failed.length === 0) return;
  // What is being sent at this moment ends with its own attempt.
  await ctx.db.execute(sql`
    update deliveries set status = 'failed', ended_at = ${now}, next_attempt_at = null, queued_at = null
    where webhook_id = any(${uuids(failed.map(({ id }) => id))}) and status = 'pending'`);
  await notifyUsers(
    ctx,
    failed.map(({ id, userId, url, taskName }) => ({
      userId,
      kind: 'webhook.failed',
      // Not the whole address: its path may be a secret of the receiver.
      title: `The webhook ${taskName === null ? '' : `of the task "${taskName}" `}to ${new URL(url).host} failed`,
      message: `Nothing more is sent to it until you switch it on again; then what failed can be sent again. Webhook: ${id}. Last error: ${errors.get(id)}`,
    })),
  );
}

const uuids = (ids: readonly string[]) => sql`${`{${[...new Set(ids)].join(',')}}`}::uuid[]`;
