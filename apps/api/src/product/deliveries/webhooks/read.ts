import type { EventKind } from '@carillon/contract/webhooks/events';
import type { ListWebhooksQuery, WebhookPurpose } from '@carillon/contract/webhooks/webhooks';
import { deliveryAttempts, endpoints } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import type { OwnEndpoint } from '../queue/endpoint.ts';
import { logFields } from '../queue/log.ts';

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

export const ownWebhook = (caller: Pick<Caller, 'id'>, id: string): OwnEndpoint => ({
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
