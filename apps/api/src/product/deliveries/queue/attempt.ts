import { randomUUID } from 'node:crypto';
import type { ChannelKind, QuietHours } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import type { Context } from '../../../context.ts';
import type { HttpOutcome } from '../../../lib/egress/client.ts';
import type { Span } from '../../../lib/telemetry/tracing.ts';
import { CHANNEL_SENDERS } from '../messages/kinds/index.ts';
import { readMessage, type StoredPayload } from '../messages/read-message.ts';
import type { ChannelSettings, SendOutcome } from '../messages/sender.ts';
import type { ClaimedDelivery } from './claim.ts';
import { buildStandardHeaders, decryptSecret, signBody } from './secret.ts';

export interface Attempt {
  id: string;
  deliveryId: string;
  claimToken: string;
  webhookId: string;
  event: string;
  url: string;
  attempt: number;
  at: Date;
  responseTimeMs: number;
  success: boolean;
  statusCode: number | null;
  error: string | null;
  lastAttemptOk: boolean | null;
  /** How long the receiver wants no further attempt, in milliseconds. */
  retryAfterMs: number | null;
  /** The receiver will never accept a delivery again. */
  isGone: boolean;
  /** When no retry is sent. */
  quiet: QuietHours | null;
}

const UNREADABLE_SECRET: HttpOutcome = {
  kind: 'not_sent',
  status: null,
  error: 'Nothing was sent: the secret cannot be read any more. Rotate it.',
};

/** Sends a delivery once. Returns null if `signal` aborted it. Holds no database connection while it waits. */
export function attemptDelivery(
  ctx: Context,
  delivery: ClaimedDelivery,
  signal?: AbortSignal,
): Promise<Attempt | null> {
  const { id, webhookId, event, attempt, requestId } = delivery;
  const attributes = {
    'carillon.delivery.id': id,
    'carillon.webhook.id': webhookId,
    'carillon.event': event,
    'carillon.attempt': attempt,
    'carillon.request_id': requestId,
  };
  const work = async (span: Span) => {
    const result = await makeAttempt(ctx, delivery, signal);
    span.set({ 'http.response.status_code': result?.statusCode ?? undefined });
    if (!result?.success) span.fail(result === null ? 'stopped' : `${result.statusCode ?? 'unanswered'}`);
    return result;
  };
  return ctx.trace.span('deliver webhook', attributes, work, { kind: 'client', causedBy: `delivery ${id}` });
}

async function makeAttempt(ctx: Context, delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt | null> {
  const at = ctx.now();
  if (delivery.attempt === 1) ctx.metrics.deliveryStarted(at.getTime() - delivery.queuedAt.getTime());
  const startedAt = performance.now();
  const outcome = await send(ctx, delivery, at, signal);
  if (outcome.kind === 'aborted') return null;
  // The time of a failed connection would show whether a host inside the network exists.
  const isTimed = outcome.kind === 'answered' || outcome.kind === 'timeout' || outcome.kind === 'mailed';
  const { id: deliveryId, claimToken, webhookId, event, url, attempt, lastAttemptOk, quiet } = delivery;
  return {
    id: randomUUID(),
    deliveryId,
    claimToken,
    webhookId,
    event,
    url,
    attempt,
    lastAttemptOk,
    at,
    responseTimeMs: isTimed ? Math.round(performance.now() - startedAt) : 0,
    success: outcome.error === null,
    statusCode: outcome.status,
    error: outcome.error,
    retryAfterMs: outcome.retryAfterMs ?? null,
    isGone: outcome.isGone ?? false,
    quiet,
  };
}

async function send(ctx: Context, delivery: ClaimedDelivery, at: Date, signal?: AbortSignal): Promise<SendOutcome> {
  const { webhookId, requestId, kind } = delivery;
  let headers: Record<string, string>;
  try {
    if (kind !== 'webhook') {
      const settings = decryptSecret(ctx, webhookId, delivery.secretEncrypted);
      return await sendMessage(ctx, { ...delivery, channelId: webhookId, kind, settings }, signal);
    }
    headers = buildHeaders(ctx, delivery, at);
  } catch (error) {
    ctx.log.error({ err: error, webhookId, requestId }, 'decrypting the secret of a webhook failed');
    return UNREADABLE_SECRET;
  }
  return ctx.http.post({ url: delivery.url, headers, body: delivery.payload, ...(signal && { signal }) });
}

function buildHeaders(ctx: Context, delivery: ClaimedDelivery, at: Date): Record<string, string> {
  const { id, webhookId, event, payload, attempt, previousAttemptAt } = delivery;
  const secret = decryptSecret(ctx, webhookId, delivery.secretEncrypted);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Carillon-Webhook/1.0',
    'X-Webhook-ID': webhookId,
    'X-Webhook-Signature': signBody(secret, payload),
    'X-Request-ID': id,
    'X-Event-Type': event,
    'X-Delivery-Attempt': String(attempt),
    ...(previousAttemptAt && { 'X-Previous-Attempt': previousAttemptAt.toISOString() }),
    ...buildStandardHeaders([secret, ...findPreviousSecrets(ctx, delivery, at)], { id, at, body: payload }),
  };
}

function findPreviousSecrets(ctx: Context, delivery: ClaimedDelivery, at: Date): string[] {
  const { webhookId, previousSecretEncrypted: ciphertext, previousSecretUntil: until } = delivery;
  if (ciphertext === null || until === null || until <= at) return [];
  return [decryptSecret(ctx, webhookId, ciphertext, 'previous_secret_encrypted')];
}

interface StoredMessage {
  /** Of the delivery. */
  id: string;
  channelId: string;
  kind: ChannelKind;
  /** As JSON. */
  settings: string;
  /** The owner of the channel. */
  reader: Reader;
  payload: string;
}

/** Sends a stored delivery to its channel once. Never rejects. */
export async function sendMessage(
  ctx: Context,
  { id, channelId, kind, settings, payload, reader }: StoredMessage,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const message = readMessage(ctx, JSON.parse(payload) as StoredPayload, reader);
  return CHANNEL_SENDERS[kind].send(ctx, JSON.parse(settings) as ChannelSettings, {
    id,
    channelId,
    message,
    ...(signal && { signal }),
  });
}
