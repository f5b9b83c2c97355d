import type { ListDeliveriesQuery } from '@carillon/contract/webhooks/deliveries';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { deliveries, deliveryAttempts, endpoints, queryRows } from '@carillon/db';
import { and, count, desc, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { OwnEndpoint } from './endpoint.ts';

/** Attempts in the log of an endpoint, besides those of open deliveries. */
const MAX_LOG_ATTEMPTS = 100;

export const logFields = {
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
export async function listDeliveries(ctx: Context, { id, where, notFound }: OwnEndpoint, query: ListDeliveriesQuery) {
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

const BATCH_SIZE = 2000;

/** Deletes what is beyond the last 100 attempts, unless open. Failed deliveries stay until retention deletes them. */
export async function pruneLog(ctx: Context, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  let deleted: unknown[];
  do {
    deleted = await queryRows(
      ctx.db,
      sql`
      with ranked as (
        select id, delivery_id, row_number() over (
          partition by webhook_id order by attempted_at desc, attempt desc, id desc) as position
        from delivery_attempts where webhook_id = any(${`{${webhookIds.join(',')}}`}::uuid[])
      ), old as (
        select a.id, a.delivery_id from delivery_attempts a where a.id in (
          select r.id from ranked r join deliveries d on d.id = r.delivery_id
          where r.position > ${MAX_LOG_ATTEMPTS} and d.ended_at is not null limit ${BATCH_SIZE})
        for update skip locked
      ), deleted as (
        delete from deliveries d where d.id in (select delivery_id from old) and (d.status = 'delivered' or d.event = 'test')
          and not exists (select from delivery_attempts a where a.delivery_id = d.id and a.id not in (select id from old))
      )
      delete from delivery_attempts where id in (select id from old) returning 1`,
    );
  } while (deleted.length === BATCH_SIZE && !ctx.worker.stopping.aborted);
}
