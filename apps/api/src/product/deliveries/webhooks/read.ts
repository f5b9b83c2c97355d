import type { ListDeliveriesQuery } from '@carillon/contract/webhooks/deliveries';
import type { EventKind } from '@carillon/contract/webhooks/events';
import type { ListWebhooksQuery, WebhookPurpose } from '@carillon/contract/webhooks/webhooks';
import { deliveries, deliveryAttempts, endpoints } from '@carillon/db';
import { and, count, desc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';

/** Attempts in the log of a webhook, besides those of open deliveries. */
export const MAX_LOG_ATTEMPTS = 100;

export const webhookFields = {
  id: endpoints.id,
  userId: endpoints.userId,
  purpose: sql<WebhookPurpose>`${endpoints.purpose}`,
  taskId: endpoints.taskId,
  url: endpoints.url,
  events: sql<EventKind[]>`${endpoints.events}`,
  description: endpoints.description,
  isActive: sql<boolean>`${endpoints.status} = 'active'`,
  status: endpoints.status,
  createdAt: endpoints.createdAt,
  revision: endpoints.revision,
};

/** Changes with the secret, and tells nothing about it. */
export const secretVersion = sql<string>`md5(${endpoints.secretEncrypted})`;

/** A webhook or a channel of the caller, which are rows of one table. */
export interface OwnReceiver {
  id: string;
  where: SQL | undefined;
  notFound: () => AppError;
  /** Why nothing can be sent again. */
  inactive: string;
}

export const ownWebhook = (caller: Pick<Caller, 'id'>, id: string): OwnReceiver => ({
  id,
  where: isOwnWebhook(caller, id),
  notFound: webhookNotFound,
  inactive: 'The webhook is not active. Activate it first.',
});

/** Throws 404 unless the caller owns the webhook. */
export async function getWebhook(ctx: Context, caller: Caller, id: string) {
  const [webhook] = await ctx.db.select(webhookFields).from(endpoints).where(isOwnWebhook(caller, id));
  if (!webhook) throw webhookNotFound();
  return webhook;
}

export const isOwnWebhook = (caller: Pick<Caller, 'id'>, id: string) =>
  and(eq(endpoints.id, id), eq(endpoints.userId, caller.id), isNoChannel);

/** Channels have routes of their own. */
export const isNoChannel = eq(endpoints.kind, 'webhook');

export const webhookNotFound = () => new AppError('not_found', 'Webhook not found');

export async function listWebhooks(ctx: Context, caller: Caller, { limit, offset }: ListWebhooksQuery) {
  const mine = and(eq(endpoints.userId, caller.id), isNoChannel);
  const [page, total] = await Promise.all([
    ctx.db
      .select(webhookFields)
      .from(endpoints)
      .where(mine)
      .orderBy(desc(endpoints.createdAt), desc(endpoints.id))
      .limit(limit)
      .offset(offset),
    ctx.db.$count(endpoints, mine),
  ]);
  return { webhooks: page, pagination: { total, limit, offset, hasMore: offset + page.length < total } };
}

const logFields = {
  id: deliveryAttempts.id,
  deliveryId: deliveryAttempts.deliveryId,
  webhookId: deliveryAttempts.webhookId,
  event: sql<EventKind>`${deliveryAttempts.event}`,
  url: deliveryAttempts.url,
  statusCode: deliveryAttempts.statusCode,
  responseTime: deliveryAttempts.responseTimeMs,
  attempt: deliveryAttempts.attempt,
  success: deliveryAttempts.success,
  error: deliveryAttempts.error,
  timestamp: deliveryAttempts.attemptedAt,
};
const newestFirst = [desc(deliveryAttempts.attemptedAt), desc(deliveryAttempts.attempt), desc(deliveryAttempts.id)];

/** The delivery log, newest first: the last 100 attempts and those of open deliveries. Throws 404. */
export async function listDeliveries(ctx: Context, { id, where, notFound }: OwnReceiver, query: ListDeliveriesQuery) {
  if ((await ctx.db.$count(endpoints, where)) === 0) throw notFound();
  const { limit, offset } = query;
  const isOfWebhook = eq(deliveryAttempts.webhookId, id);
  const latest = ctx.db
    .select({ id: deliveryAttempts.id })
    .from(deliveryAttempts)
    .where(isOfWebhook)
    .orderBy(...newestFirst)
    .limit(MAX_LOG_ATTEMPTS);
  const isLogged = and(isOfWebhook, or(isNull(deliveries.endedAt), inArray(deliveryAttempts.id, latest)));
  const isOfDelivery = eq(deliveries.id, deliveryAttempts.deliveryId);
  const [logs, [counted]] = await Promise.all([
    ctx.db
      .select(logFields)
      .from(deliveryAttempts)
      .innerJoin(deliveries, isOfDelivery)
      .where(isLogged)
      .orderBy(...newestFirst)
      .limit(limit)
      .offset(offset),
    ctx.db.select({ total: count() }).from(deliveryAttempts).innerJoin(deliveries, isOfDelivery).where(isLogged),
  ]);
  return { logs, pagination: { total: counted?.total ?? 0, limit, offset } };
}

/** Throws 404. */
export async function getDeliveryAttempt(ctx: Context, caller: Caller, { id, logId }: { id: string; logId: string }) {
  const [attempt] = await ctx.db
    .select(logFields)
    .from(deliveryAttempts)
    .innerJoin(endpoints, eq(endpoints.id, deliveryAttempts.webhookId))
    .where(and(isOwnWebhook(caller, id), eq(deliveryAttempts.id, logId)));
  if (!attempt) throw new AppError('not_found', 'Log entry not found');
  return attempt;
}
