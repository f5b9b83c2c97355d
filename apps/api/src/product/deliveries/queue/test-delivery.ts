import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { deliveries, endpoints } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { leaseUntil } from '../../../lib/queue/leases.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { inTransaction } from '../../../transaction.ts';
import { type Attempt, attemptDelivery } from './attempt.ts';
import { addToRateWindow, type ClaimedDelivery, DELIVERY_LIMITS, lockClaims } from './claim.ts';
import { completeAttempts } from './complete.ts';
import type { OwnEndpoint } from './endpoint.ts';

/** Longer than an attempt can last, because this lease is not renewed. */
const TEST_MS = 60_000;

export interface TestResult<E = LogEntry> {
  success: boolean;
  delivery: E;
}

interface TestOptions<E> {
  receiver: OwnEndpoint;
  toEntry: (entry: LogEntry) => E;
}

/** Counts in the rate window of the webhook or channel without waiting for it, and has no consequences. Throws 404, 503. */
export async function sendTest<E>(
  ctx: Context,
  caller: Caller,
  { receiver, toEntry }: TestOptions<E>,
): Promise<TestResult<E>> {
  const claimed = await inTransaction(ctx, (tx) => beginTest(tx, caller, receiver));
  const attempt = await attemptDelivery(ctx, claimed);
  if (!attempt) throw receiver.notFound();
  return inTransaction(ctx, async (tx) => {
    const stored = await completeAttempts(tx, [attempt]);
    if (stored.length === 0) throw receiver.notFound();
    return { success: attempt.success, delivery: toEntry(toLogEntry(attempt)) };
  });
}

async function beginTest(ctx: Context, caller: Caller, { id: webhookId, where, notFound }: OwnEndpoint) {
  await lockClaims(ctx);
  const [webhook] = await ctx.db.select().from(endpoints).where(where).for('no key update');
  if (!webhook) throw notFound();
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
  await ctx.db.execute(sql`update endpoints h set ${addToRateWindow(ctx, sql`1`)} where h.id = ${webhookId}`);
  const { kind, userId, url, lastAttemptOk, secretEncrypted, previousSecretEncrypted, previousSecretUntil } = webhook;
  const secrets = { secretEncrypted, previousSecretEncrypted, previousSecretUntil };
  const claimed = { ...row, ...secrets, kind, userId, url, lastAttemptOk, queuedAt: now };
  return { ...claimed, attempt: 1, previousAttemptAt: null, reader: caller, quiet: null } satisfies ClaimedDelivery;
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

export type LogEntry = ReturnType<typeof toLogEntry>;
