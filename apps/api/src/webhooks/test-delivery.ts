import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { deliveries, webhooks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError } from '../errors.ts';
import { recordEvents } from '../events/outbox.ts';
import { leaseUntil } from '../queue/leases.ts';
import { type Attempt, attemptDelivery } from './delivery/attempt.ts';
import { addToRateWindow, type ClaimedDelivery, DELIVERY_LIMITS, lockClaims } from './delivery/claim.ts';
import { completeAttempts } from './delivery/complete.ts';
import { isOwnWebhook, webhookNotFound } from './read.ts';

/** Longer than an attempt can last, because this lease is not renewed. */
export const TEST_MS = 60_000;

/**
 * Counts in the webhook's rate window without waiting for it, and has no consequences. `store` runs in the transaction
 * that stores the attempt. Throws 404, 503.
 */
export async function testWebhook(
  ctx: Context,
  caller: Caller,
  id: string,
  store: (tx: Context, result: TestResult) => Promise<void> = async () => {},
): Promise<TestResult> {
  const claimed = await inTransaction(ctx, (tx) => beginTest(tx, caller, id));
  const attempt = await attemptDelivery(ctx, claimed);
  if (!attempt) throw webhookNotFound();
  return inTransaction(ctx, async (tx) => {
    const stored = await completeAttempts(tx, [attempt]);
    if (stored.length === 0) throw webhookNotFound();
    const result = { success: attempt.success, delivery: toLogEntry(attempt) };
    await store(tx, result);
    return result;
  });
}

export interface TestResult {
  success: boolean;
  delivery: ReturnType<typeof toLogEntry>;
}

async function beginTest(ctx: Context, caller: Caller, webhookId: string): Promise<ClaimedDelivery> {
  await lockClaims(ctx);
  const [webhook] = await ctx.db.select().from(webhooks).where(isOwnWebhook(caller, webhookId)).for('no key update');
  if (!webhook) throw webhookNotFound();
  const sending = await ctx.db.$count(deliveries, eq(deliveries.status, 'sending'));
  if (sending >= DELIVERY_LIMITS.total)
    throw new AppError('unavailable', 'Too many deliveries are in progress. Try again in a few seconds.');

  const now = ctx.now();
  const id = randomUUID();
  const claimToken = randomUUID();
  const requestId = ctx.requestId ?? randomUUID();
  const event: EventKind = 'test';
  const data = { message: 'This is a test delivery from Carillon.', testId: id };
  const payload = JSON.stringify({ event, timestamp: now.toISOString(), webhookId, userId: caller.id, data });
  const row = { id, webhookId, event, payload, requestId, claimToken, createdAt: now };
  await ctx.db.insert(deliveries).values({ ...row, status: 'sending', leaseUntil: leaseUntil(TEST_MS) });
  recordEvents(ctx, [{ kind: event, userId: caller.id, data, isUnsent: true }]);
  await ctx.db.execute(sql`update webhooks h set ${addToRateWindow(ctx, sql`1`)} where h.id = ${webhookId}`);
  const { kind, userId, url, lastAttemptOk, secretSealed, previousSecretSealed, previousSecretUntil } = webhook;
  const secrets = { secretSealed, previousSecretSealed, previousSecretUntil };
  return { ...row, ...secrets, kind, userId, url, lastAttemptOk, queuedAt: now, attempt: 1, previousAttemptAt: null };
}

const toLogEntry = ({ id, deliveryId, webhookId, event, url, ...attempt }: Attempt) => ({
  id,
  deliveryId,
  webhookId,
  event: event as EventKind,
  url,
  statusCode: attempt.statusCode,
  responseTime: attempt.responseTimeMs,
  attempt: attempt.attempt,
  success: attempt.success,
  error: attempt.error,
  timestamp: attempt.at,
});
