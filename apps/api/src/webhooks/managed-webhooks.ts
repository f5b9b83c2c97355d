import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { ALERT_KINDS, webhooks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import { afterCommit, type Context } from '../context.ts';
import { endDeliveriesIfFailed } from './delivery/end-open.ts';
import { encryptUnindexedSecret, generateSecret } from './secret.ts';

/** Also sent for executions that an inbound webhook started, unlike `task.*` events. */
export const TASK_EVENTS: EventKind[] = ['execution.completed', 'execution.failed', ...ALERT_KINDS];
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
    await ctx.db.delete(webhooks).where(eq(webhooks.taskId, taskId));
    return;
  }
  await endDeliveriesIfFailed(ctx, sql`h.task_id = ${taskId}`);
  await ctx.db
    .insert(webhooks)
    .values(buildWebhook(ctx, { userId, taskId, url, purpose: 'task', events: TASK_EVENTS, status: 'active' }))
    .onConflictDoUpdate({
      target: webhooks.taskId,
      set: { url, status: 'active', lastAttemptOk: null, updatedAt: ctx.now() },
      setWhere: sql`${webhooks.url} <> ${url}`,
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

/** A failed webhook stays failed until its address changes or it is switched on again. */
export async function setAccountWebhook(
  ctx: Context,
  { userId, url, isActive }: ManagedWebhook & { isActive: boolean },
): Promise<void> {
  if (url === null) {
    await ctx.db.delete(webhooks).where(and(eq(webhooks.userId, userId), eq(webhooks.purpose, 'account')));
    return;
  }
  await endDeliveriesIfFailed(ctx, sql`h.user_id = ${userId} and h.purpose = 'account'`);
  const status = isActive ? 'active' : 'inactive';
  const staysFailed = sql`${webhooks.status} = 'failed' and ${webhooks.url} = ${url} and ${isActive}`;
  await ctx.db
    .insert(webhooks)
    .values(buildWebhook(ctx, { userId, url, purpose: 'account', events: ACCOUNT_EVENTS, status }))
    .onConflictDoUpdate({
      target: webhooks.userId,
      targetWhere: sql`${webhooks.purpose} = 'account'`,
      set: {
        url,
        status: sql`case when ${staysFailed} then 'failed' else ${status} end`,
        // A new receiver has no attempts yet.
        lastAttemptOk: sql`case when ${webhooks.url} = ${url} then ${webhooks.lastAttemptOk} end`,
        updatedAt: ctx.now(),
      },
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

type WebhookValues = Pick<typeof webhooks.$inferInsert, 'userId' | 'taskId' | 'url' | 'purpose' | 'events' | 'status'>;

function buildWebhook(ctx: Context, values: WebhookValues) {
  const id = randomUUID();
  const now = ctx.now();
  return { id, ...encryptUnindexedSecret(ctx, id, generateSecret()), ...values, createdAt: now, updatedAt: now };
}
