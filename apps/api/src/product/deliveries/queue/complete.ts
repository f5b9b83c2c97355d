import { DAY_MS } from '@carillon/contract/primitives';
import { type ChannelKind, queryRows, recordset } from '@carillon/db';
import { getTexts, type Language } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { RELEASE_LEASE } from '../../../lib/queue/leases.ts';
import { storeBatch } from '../../../lib/queue/retry.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { reportUndelivered } from '../../notifications/alerts/undelivered.ts';
import { notifyUsers } from '../../notifications/write.ts';
import { CHANNEL_SENDERS } from '../messages/kinds/index.ts';
import type { Attempt } from './attempt.ts';
import { pauseRateWindow } from './claim.ts';
import { endOfQuietHours } from './held/release-at.ts';
import { endDelivery } from './leases.ts';

const MAX_WAIT_MS = 5000;
/** Targets may ask for any time. */
const MAX_RETRY_AFTER_MS = DAY_MS;

interface CompletedDelivery {
  id: string;
  event: string;
  attemptId: string;
  webhookId: string;
  /** The attempt failed and no retry follows. */
  isExhausted: boolean;
  hasFailed: boolean;
  alertId: number | null;
  error: string | null;
}

type EndedDelivery = Pick<CompletedDelivery, 'id' | 'event' | 'alertId' | 'error'>;

/** Stores attempts and their consequences, unless their claim was lost. Returns the ids of the stored deliveries. */
export async function completeAttempts(ctx: Context, attempts: readonly Attempt[]): Promise<string[]> {
  if (attempts.length === 0) return [];
  const changesWebhook = attempts.filter(({ success, lastAttemptOk }) => !success || lastAttemptOk !== true);
  // Pipelined on one connection, in this order: webhooks before their deliveries, as in every other transaction.
  const refused = attempts.filter(({ retryAfterMs }) => retryAfterMs !== null);
  const [, , , completed] = await Promise.all([
    changesWebhook.length > 0 && lockWebhooks(ctx, changesWebhook),
    changesWebhook.length > 0 && updateLastAttempts(ctx, attempts),
    refused.length > 0 && pauseChannels(ctx, refused),
    writeAttempts(ctx, attempts),
  ]);
  const ended = await failWebhooks(
    ctx,
    completed.filter(({ isExhausted }) => isExhausted),
  );
  const failed = completed.filter(({ hasFailed }) => hasFailed);
  const alertsOf = [...failed, ...ended].flatMap(({ id, alertId, error }) =>
    alertId === null ? [] : [{ id, alertId, error }],
  );
  const digests = [...failed, ...ended].filter(({ event }) => event === 'digest');
  if (digests.length > 0) alertsOf.push(...(await listAlertsOf(ctx, digests)));
  await reportUndelivered(ctx, 'webhook', alertsOf);
  const stored = new Set(completed.map(({ attemptId }) => attemptId));
  afterCommit(ctx, () => {
    for (const attempt of attempts) if (stored.has(attempt.id)) ctx.metrics.attemptEnded(attempt);
  });
  return completed.map(({ id }) => id);
}

/** The alerts that digests have. */
function listAlertsOf(ctx: Context, digests: readonly EndedDelivery[]) {
  const values = digests.map(({ id, error }) => ({ id, error }));
  return queryRows<{ id: string; alertId: number; error: string | null }>(
    ctx.db,
    sql`select f.id, d.alert_id, f.error from ${recordset('f', values, { id: 'uuid', error: 'text' })}
      join deliveries d on d.digest_id = f.id and d.alert_id is not null`,
  );
}

/** One that cannot be stored is left to its lease. */
export function storeAttempts(ctx: Context, attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  return storeBatch(attempts, {
    maxWaitMs: MAX_WAIT_MS,
    signal,
    store: (batch) => inTransaction(ctx, (tx) => completeAttempts(tx, batch)),
    onFailure: (error, batch) => ctx.log.error({ err: error, attempts: batch.length }, 'storing attempts failed'),
    onUnstorable: ({ deliveryId }, error) =>
      ctx.log.error({ err: error, deliveryId }, 'storing an attempt failed: sent again when its lease expires'),
  });
}

const ATTEMPT_COLUMNS = {
  id: 'uuid',
  deliveryId: 'uuid',
  claimToken: 'uuid',
  url: 'text',
  attempt: 'int',
  at: 'timestamptz',
  success: 'boolean',
  statusCode: 'int',
  error: 'text',
  responseTimeMs: 'int',
  retryAt: 'timestamptz',
} as const;

async function writeAttempts(ctx: Context, attempts: readonly Attempt[]): Promise<CompletedDelivery[]> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const values = attempts.map((one) => ({
    ...one,
    retryAt: computeRetryAt(ctx, one, now),
  }));
  return queryRows<CompletedDelivery>(
    ctx.db,
    sql`
    with completed as (
      update deliveries d set attempt = a.attempt, previous_attempt_at = a.at, ${RELEASE_LEASE},
        status = s.status, next_attempt_at = case when s.status = 'pending' then a.retry_at end,
        ended_at = case when s.status <> 'pending' then ${at} end
      from ${recordset('a', values, ATTEMPT_COLUMNS)}
        join deliveries was on was.id = a.delivery_id join endpoints h on h.id = was.webhook_id
        cross join lateral (select case when a.success then 'delivered'
          when a.retry_at is null or h.status = 'failed' then 'failed' else 'pending' end as status) s
      where d.id = a.delivery_id and d.claim_token = a.claim_token
      returning d.id, d.webhook_id, d.event, a.id as attempt_id, a.url, a.attempt, a.at, a.success, a.status_code, a.error,
        a.response_time_ms, d.alert_id, d.status = 'failed' as has_failed,
        not a.success and a.retry_at is null and d.event <> 'test' as is_exhausted
    ), logged as (
      insert into delivery_attempts (id, delivery_id, webhook_id, event, url, attempt, success, status_code, error,
        response_time_ms, attempted_at)
      select attempt_id, id, webhook_id, event, url, attempt, success, status_code, error, response_time_ms, at from completed
    )
    select id, event, attempt_id, webhook_id, is_exhausted, has_failed, alert_id, error from completed`,
  );
}

/** Counts from the end of the attempt, and is not in quiet hours; null if no retry follows. */
function computeRetryAt(ctx: Context, one: Attempt, now: Date): Date | null {
  const wait = ctx.config.webhookRetryDelaysMs[one.attempt];
  if (one.success || one.isGone || wait === undefined || one.event === 'test') return null;
  const at = now.getTime() + Math.max(wait, boundWait(one.retryAfterMs));
  return new Date(one.quiet === null ? at : endOfQuietHours(one.quiet, at));
}

function lockWebhooks(ctx: Context, attempts: readonly Attempt[]) {
  const ids = uuids(attempts.map(({ webhookId }) => webhookId));
  return queryRows(ctx.db, sql`select from endpoints where id = any(${ids}) order by id for no key update`);
}

/** Of several attempts at one webhook the one that started last counts. */
function updateLastAttempts(ctx: Context, attempts: readonly Attempt[]) {
  const inOrder = attempts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const latest = new Map(inOrder.map(({ webhookId, success }) => [webhookId, success]));
  const values = [...latest].map(([id, ok]) => ({ id, ok }));
  return queryRows(
    ctx.db,
    sql`
    update endpoints h set last_attempt_ok = a.ok
    from ${recordset('a', values, { id: 'uuid', ok: 'boolean' })}
    where h.id = a.id and h.last_attempt_ok is distinct from a.ok`,
  );
}

/** What else waits for a target that wants no further attempt yet waits too. */
function pauseChannels(ctx: Context, refused: readonly Attempt[]) {
  const now = ctx.now().getTime();
  const pauses = new Map<string, number>();
  for (const { webhookId, retryAfterMs } of refused)
    pauses.set(webhookId, Math.max(boundWait(retryAfterMs), pauses.get(webhookId) ?? 0));
  const values = [...pauses].map(([id, ms]) => ({ id, until: new Date(now + ms) }));
  return queryRows(
    ctx.db,
    sql`
    update endpoints h set ${pauseRateWindow(ctx, sql`p.until`)}
    from ${recordset('p', values, { id: 'uuid', until: 'timestamptz' })} where h.id = p.id`,
  );
}

const boundWait = (retryAfterMs: number | null) => Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);

interface FailedWebhook {
  id: string;
  userId: number;
  kind: 'webhook' | ChannelKind;
  /** Of a channel, or the description of a webhook. */
  name: string | null;
  url: string;
  taskName: string | null;
  language: Language;
}

function describeFailure({ id, kind, name, url, taskName, language }: FailedWebhook, error: string) {
  const { notices } = getTexts(language);
  const isWebhook = kind === 'webhook';
  // Of a URL the host only: its path may contain a secret.
  const title = isWebhook
    ? notices.webhookFailed(name || new URL(url).host, taskName)
    : notices.channelFailed(CHANNEL_SENDERS[kind].title, name ?? '');
  const message = notices.endpointFailedText(error);
  const path = `/${isWebhook ? 'webhooks' : 'channels'}/${id}`;
  return { kind: isWebhook ? 'webhook.failed' : 'channel.failed', title, message, path };
}

/** Returns the deliveries that end because their webhook has failed. */
async function failWebhooks(ctx: Context, exhausted: readonly CompletedDelivery[]): Promise<EndedDelivery[]> {
  if (exhausted.length === 0) return [];
  const errors = new Map(exhausted.map(({ webhookId, error }) => [webhookId, error]));
  const now = ctx.now().toISOString();
  const failed = await queryRows<FailedWebhook>(
    ctx.db,
    sql`update endpoints set status = 'failed', updated_at = ${now}
      where id = any(${uuids([...errors.keys()])}) and status = 'active'
      returning id, user_id, kind, coalesce(name, description) as name, url, (select name from tasks t where t.id = task_id) as task_name,
        (select language from users u where u.id = endpoints.user_id)`,
  );
  if (failed.length === 0) return [];
  // Deliveries that are being sent end with their own attempt.
  const ended = await queryRows<Omit<EndedDelivery, 'error'>>(
    ctx.db,
    sql`
    update deliveries set ${endDelivery(sql`${now}::timestamptz`)}
    where webhook_id = any(${uuids(failed.map(({ id }) => id))}) and status in ('pending', 'held')
    returning id, event, alert_id`,
  );
  await notifyUsers(
    ctx,
    failed.map((webhook) => ({
      userId: webhook.userId,
      ...describeFailure(webhook, errors.get(webhook.id) ?? ''),
    })),
  );
  return ended.map((delivery) => ({ ...delivery, error: null }));
}

const uuids = (ids: readonly string[]) => sql`${`{${[...new Set(ids)].join(',')}}`}::uuid[]`;
