import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { endpoints } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { afterCommit } from '../../../transaction.ts';
import { TASK_EVENTS } from '../queue/endpoint.ts';
import { endDeliveriesIfFailed } from '../queue/leases.ts';
import { encryptUnindexedSecret, generateSecret } from '../queue/secret.ts';

const ACCOUNT_EVENTS: EventKind[] = ['task.completed', 'task.failed', 'usage.alert'];

interface ManagedWebhook {
  userId: number;
  /** Checked by `assertReachable` before; null deletes the webhook. */
  url: string | null;
}

/** Matches the webhook of a task to `tasks.webhook_url`. A new address makes it active again. */
export async function setTaskWebhook(
  ctx: Context,
  { userId, taskId, url }: ManagedWebhook & { taskId: number },
): Promise<void> {
  if (url === null) {
    await ctx.db.delete(endpoints).where(eq(endpoints.taskId, taskId));
    return;
  }
  await endDeliveriesIfFailed(ctx, sql`h.task_id = ${taskId}`);
  await ctx.db
    .insert(endpoints)
    .values(buildWebhook(ctx, { userId, taskId, url, purpose: 'task', events: TASK_EVENTS, status: 'active' }))
    .onConflictDoUpdate({
      target: endpoints.taskId,
      set: { url, status: 'active', lastAttemptOk: null, updatedAt: ctx.now() },
      setWhere: sql`${endpoints.url} <> ${url}`,
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

/** A failed webhook stays failed until its address changes or it is switched on again. */
export async function setAccountWebhook(
  ctx: Context,
  { userId, url, isActive }: ManagedWebhook & { isActive: boolean },
): Promise<void> {
  if (url === null) {
    await ctx.db.delete(endpoints).where(and(eq(endpoints.userId, userId), eq(endpoints.purpose, 'account')));
    return;
  }
  await endDeliveriesIfFailed(ctx, sql`h.user_id = ${userId} and h.purpose = 'account'`);
  const status = isActive ? 'active' : 'inactive';
  const staysFailed = sql`${endpoints.status} = 'failed' and ${endpoints.url} = ${url} and ${isActive}`;
  await ctx.db
    .insert(endpoints)
    .values(buildWebhook(ctx, { userId, url, purpose: 'account', events: ACCOUNT_EVENTS, status }))
    .onConflictDoUpdate({
      target: endpoints.userId,
      targetWhere: sql`${endpoints.purpose} = 'account'`,
      set: {
        url,
        status: sql`case when ${staysFailed} then 'failed' else ${status} end`,
        // A new receiver has no attempts yet.
        lastAttemptOk: sql`case when ${endpoints.url} = ${url} then ${endpoints.lastAttemptOk} end`,
        updatedAt: ctx.now(),
      },
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

type WebhookValues = Pick<typeof endpoints.$inferInsert, 'userId' | 'taskId' | 'url' | 'purpose' | 'events' | 'status'>;

function buildWebhook(ctx: Context, values: WebhookValues) {
  const id = randomUUID();
  const now = ctx.now();
  return { id, ...encryptUnindexedSecret(ctx, id, generateSecret()), ...values, createdAt: now, updatedAt: now };
}

/** Checks the URL only: its host is resolved and checked before each request. */
export function assertReachable(ctx: Context, field: string, url: string): void {
  const problem = ctx.http.checkAddress(url);
  if (problem !== null) throw invalidField(field, problem);
}
