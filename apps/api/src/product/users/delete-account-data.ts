import {
  auditLog,
  eventPositions,
  events,
  executions,
  mails,
  orphanedObjects,
  uploads,
  usageRecords,
  users,
} from '@carillon/db';
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';

/** Rows per statement, so that each one ends within the statement timeout. */
const BATCH_SIZE = 5000;

/**
 * Deletes an account with all its data, in a transaction that has locked its tasks and its row. The audit log loses what
 * the account did and keeps what admins did to it. Returns the running executions, to abort after the commit.
 */
export async function deleteAccountData(
  tx: Context,
  { id, email }: Pick<typeof users.$inferSelect, 'id' | 'email'>,
): Promise<number[]> {
  // First, because a transaction that records an event locks this row last.
  await tx.db.delete(eventPositions).where(eq(eventPositions.userId, id));
  await deleteEvents(tx, id);
  const running = await tx.db
    .select({ id: executions.id })
    .from(executions)
    .where(and(eq(executions.archived, false), eq(executions.userId, id), eq(executions.status, 'running')));
  await deleteExecutions(tx, id);
  await tx.db.delete(mails).where(eq(mails.recipient, email));
  await tx.db.delete(auditLog).where(and(eq(auditLog.userId, id), eq(auditLog.actorId, id)));
  await orphanFiles(tx, id);
  // Everything else is deleted by cascade.
  await tx.db.delete(users).where(eq(users.id, id));
  return running.map((execution) => execution.id);
}

async function deleteEvents({ db }: Context, userId: number) {
  let deleted: unknown[];
  do {
    const batch = db.select({ id: events.id }).from(events).where(eq(events.userId, userId)).limit(BATCH_SIZE);
    const mine = and(eq(events.userId, userId), inArray(events.id, batch));
    deleted = await db.delete(events).where(mine).returning({ id: events.id });
  } while (deleted.length === BATCH_SIZE);
}

async function deleteExecutions(ctx: Context, userId: number) {
  await ctx.db.delete(usageRecords).where(eq(usageRecords.userId, userId));
  const batch = ctx.db
    .select({ id: executions.id })
    .from(executions)
    .where(eq(executions.userId, userId))
    .limit(BATCH_SIZE);
  let deleted: unknown[];
  do {
    deleted = await ctx.db.delete(executions).where(inArray(executions.id, batch)).returning({ id: executions.id });
  } while (deleted.length === BATCH_SIZE);
}

/** Leaves the stored files to the cleanup. The account's row is locked: an upload that ends now finds no account. */
async function orphanFiles(ctx: Context, userId: number) {
  const now = ctx.now().toISOString();
  const keys = ctx.db
    .select({
      key: uploads.storageKey,
      userId: sql`null::int`.as('user_id'),
      deleteAfter: sql`${now}::timestamptz`.as('delete_after'),
    })
    .from(uploads)
    .where(and(eq(uploads.userId, userId), isNotNull(uploads.storageKey)));
  await ctx.db.insert(orphanedObjects).select(keys).onConflictDoNothing();
}
