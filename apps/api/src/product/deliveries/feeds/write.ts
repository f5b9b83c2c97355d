import { randomUUID } from 'node:crypto';
import { apiKeys, feeds, tasks, users } from '@carillon/db';
import { and, eq, isNull } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES, taskNotFound } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';
import { generateFeedSecret, hashFeedSecret } from './read.ts';

/** Returns the address, which is not shown again; a former one ends. Throws 404. */
export function createTaskFeed(ctx: Context, caller: Caller, taskId: number): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    const [task] = await tx.db
      .select({ id: tasks.id })
      .from(tasks)
      .where(and(eq(tasks.id, taskId), eq(tasks.userId, caller.id)))
      .for('key share');
    if (!task) throw taskNotFound();
    return replaceFeed(tx, caller, taskId);
  });
}

/** As `createTaskFeed`, for the results of all tasks of the caller. */
export function createAccountFeed(ctx: Context, caller: Caller): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    const [user] = await tx.db.select({ id: users.id }).from(users).where(eq(users.id, caller.id)).for('key share');
    if (!user) throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
    return replaceFeed(tx, caller, null);
  });
}

/** Of two replacements at once, the later one wins. */
async function replaceFeed(tx: Context, caller: Caller, taskId: number | null): Promise<string> {
  const secret = generateFeedSecret();
  const keyId = caller.apiKey?.id ?? null;
  if (keyId !== null) await lockKey(tx, keyId);
  const replaced = { secretHash: hashFeedSecret(secret), keyId, createdAt: tx.now() };
  const one = taskId === null ? { target: feeds.userId, targetWhere: isNull(feeds.taskId) } : { target: feeds.taskId };
  await tx.db
    .insert(feeds)
    .values({ id: randomUUID(), userId: caller.id, taskId, ...replaced })
    .onConflictDoUpdate({ ...one, set: replaced });
  await recordAudit(tx, { kind: 'feed.created', ...describeActor(caller), details: { taskId } });
  return `${tx.config.baseUrl}/feeds/${secret}.atom`;
}

/** Throws 401 for a key that was deleted after its request began. */
async function lockKey(tx: Context, id: string): Promise<void> {
  const [key] = await tx.db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)).for('key share');
  if (!key) throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
}

/** Ends the feed of a task, or of the account for null. Throws 404. */
export async function deleteFeed(ctx: Context, caller: Caller, taskId: number | null): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const deleted = await tx.db.delete(feeds).where(isFeedOf(caller, taskId)).returning({ id: feeds.id });
    if (deleted.length === 0) throw feedNotFound();
    await recordAudit(tx, { kind: 'feed.deleted', ...describeActor(caller), details: { taskId } });
  });
}

const isFeedOf = (caller: Caller, taskId: number | null) =>
  and(eq(feeds.userId, caller.id), taskId === null ? isNull(feeds.taskId) : eq(feeds.taskId, taskId));

export const feedNotFound = () => new AppError('not_found', 'Feed not found');
