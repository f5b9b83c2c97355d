import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import { webhooks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import { afterCommit, type Context } from '../context.ts';
import { encryptUnlisted, newSecret } from './secret.ts';

/** They are not held back for runs that an inbound webhook caused: whoever set the address is to learn of every end. */
const OF_TASK: EventKind[] = ['execution.completed', 'execution.failed'];
const OF_ACCOUNT: EventKind[] = ['task.completed', 'task.failed', 'usage.alert'];

interface OwnAddress {
  userId: number;
  /** As `assertReachable` has taken it; null for none. */
  url: string | null;
}

/**
 * Keeps the webhook of a task in step with `tasks.webhook_url`, in the transaction that writes that: made with a secret
 * that its owner learns by a rotation, switched on again when the address changes, deleted with all it has to send when
 * there is none.
 */
export async function setTaskWebhook(
  ctx: Context,
  { userId, taskId, url }: OwnAddress & { taskId: number },
): Promise<void> {
  if (url === null) {
    await ctx.db.delete(webhooks).where(eq(webhooks.taskId, taskId));
    return;
  }
  await ctx.db
    .insert(webhooks)
    .values(newWebhook(ctx, { userId, taskId, url, purpose: 'task', events: OF_TASK, status: 'active' }))
    .onConflictDoUpdate({
      target: webhooks.taskId,
      set: { url, status: 'active', lastAttemptOk: null, updatedAt: ctx.now() },
      setWhere: sql`${webhooks.url} <> ${url}`,
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

/**
 * The same for `users.notification_url`, whose webhook is inactive while `isActive` is false. One that has failed stays
 * so until it is switched on again or its address changes.
 */
export async function setAccountWebhook(
  ctx: Context,
  { userId, url, isActive }: OwnAddress & { isActive: boolean },
): Promise<void> {
  if (url === null) {
    await ctx.db.delete(webhooks).where(and(eq(webhooks.userId, userId), eq(webhooks.purpose, 'account')));
    return;
  }
  const status = isActive ? 'active' : 'inactive';
  const stays = sql`${webhooks.status} = 'failed' and ${webhooks.url} = ${url} and ${isActive}`;
  await ctx.db
    .insert(webhooks)
    .values(newWebhook(ctx, { userId, url, purpose: 'account', events: OF_ACCOUNT, status }))
    .onConflictDoUpdate({
      target: webhooks.userId,
      targetWhere: sql`${webhooks.purpose} = 'account'`,
      set: {
        url,
        status: sql`case when ${stays} then 'failed' else ${status} end`,
        // Another receiver has yet to prove itself.
        lastAttemptOk: sql`case when ${webhooks.url} = ${url} then ${webhooks.lastAttemptOk} end`,
        updatedAt: ctx.now(),
      },
    });
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

type Given = Pick<typeof webhooks.$inferInsert, 'userId' | 'taskId' | 'url' | 'purpose' | 'events' | 'status'>;

function newWebhook(ctx: Context, given: Given) {
  const id = randomUUID();
  const now = ctx.now();
  return { id, ...encryptUnlisted(ctx, id, newSecret()), ...given, createdAt: now, updatedAt: now };
}
