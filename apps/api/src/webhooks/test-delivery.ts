import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import { deliveries, webhooks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError } from '../errors.ts';
import { type ClaimedDelivery, countAttempts, LIMITS, lockClaims } from './claim.ts';
import { type Attempt, attemptDelivery } from './deliver.ts';
import { isOwn, refuseWebhook } from './read.ts';
import { settleAttempts } from './settle.ts';

/** Longer than an attempt can last, as nobody renews it. */
const LEASE_MS = 60_000;

/**
 * Sends a test to a webhook of the caller's, whatever its state, and returns its entry in the log. One attempt at once:
 * it takes a place of the webhook's minute, but does not wait for one, and a failure changes nothing but the log
 * (decisions §8). Refusals: 404, and 503 while all places of the service are taken.
 */
export async function testWebhook(ctx: Context, caller: Caller, id: string) {
  const claimed = await inTransaction(ctx, (tx) => beginTest(tx, caller, id));
  const attempt = await attemptDelivery(ctx, claimed);
  const written = attempt ? await inTransaction(ctx, (tx) => settleAttempts(tx, [attempt])) : [];
  if (!attempt || written.length === 0) return refuseWebhook();
  return { success: attempt.success, delivery: entryOf(attempt) };
}

async function beginTest(ctx: Context, caller: Caller, webhookId: string): Promise<ClaimedDelivery> {
  await lockClaims(ctx);
  const [webhook] = await ctx.db.select().from(webhooks).where(isOwn(caller, webhookId)).for('no key update');
  if (!webhook) return refuseWebhook();
  const sending = await ctx.db.$count(deliveries, eq(deliveries.status, 'sending'));
  if (sending >= LIMITS.global) throw new AppError('unavailable', 'Too many deliveries are under way. Try again soon.');

  const now = ctx.now();
  const id = randomUUID();
  const claimToken = randomUUID();
  const requestId = ctx.requestId ?? randomUUID();
  const event: EventKind = 'test';
  const data = { message: 'This is a test delivery from Carillon.', testId: id };
  const payload = JSON.stringify({ event, timestamp: now.toISOString(), webhookId, userId: caller.id, data });
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const row = { id, webhookId, event, payload, requestId, claimToken, leaseUntil, createdAt: now };
  await ctx.db.insert(deliveries).values({ ...row, status: 'sending' });
  await ctx.db.execute(sql`update webhooks h set ${countAttempts(ctx, sql`1`)} where h.id = ${webhookId}`);
  const { url, lastAttemptOk, secretSealed, previousSecretSealed, previousSecretUntil } = webhook;
  const secrets = { secretSealed, previousSecretSealed, previousSecretUntil };
  return { ...row, ...secrets, url, lastAttemptOk, queuedAt: now, attempt: 1, previousAttemptAt: null };
}

const entryOf = ({ id, deliveryId, webhookId, event, url, ...attempt }: Attempt) => ({
  ...{ id, deliveryId, webhookId, event: event as EventKind, url },
  statusCode: attempt.statusCode,
  responseTime: attempt.responseTimeMs,
  attempt: attempt.attempt,
  success: attempt.success,
  error: attempt.error,
  timestamp: attempt.at,
});
