import { auditLog, executions, mails, orphanedObjects, uploads, usageRecords, users } from '@carillon/db';
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { lockUserTasks } from '../tasks/suspend.ts';
import { lockForAdmin } from './last-admin.ts';

/** Runs that one statement deletes: fewer than it may take time for. */
const BATCH = 5000;

/**
 * Deletes an account with all its data, and records that (specification "Admin", decisions §9). What is running is
 * aborted and its result dropped; its files are removed from the storage soon after. Of the audit log the account's own
 * deeds go, and what admins did to it stays. Refusals: 404, and 409 for the last active admin.
 */
export async function deleteAccount(ctx: Context, admin: Caller, id: number): Promise<void> {
  const running = await inTransaction(ctx, async (tx) => {
    await lockUserTasks(tx, id, 'update');
    const { email, role } = await lockForAdmin(tx, admin, id, () => true);
    const running = await tx.db
      .select({ id: executions.id })
      .from(executions)
      .where(and(eq(executions.userId, id), eq(executions.status, 'running')));
    await deleteRuns(tx, id);
    await tx.db.delete(mails).where(eq(mails.recipient, email));
    await tx.db.delete(auditLog).where(and(eq(auditLog.userId, id), eq(auditLog.actorId, id)));
    await leaveFiles(tx, id);
    // What else there is of the account goes with its row.
    await tx.db.delete(users).where(eq(users.id, id));
    await recordAudit(tx, {
      kind: 'user.deleted',
      actorId: admin.id,
      actorEmail: admin.email,
      userId: id,
      details: { before: { email, role }, after: null },
    });
    return running;
  });
  ctx.worker.abort(running.map((run) => run.id));
}

async function deleteRuns(ctx: Context, userId: number) {
  await ctx.db.delete(usageRecords).where(eq(usageRecords.userId, userId));
  const some = ctx.db.select({ id: executions.id }).from(executions).where(eq(executions.userId, userId)).limit(BATCH);
  let gone: unknown[];
  do {
    gone = await ctx.db.delete(executions).where(inArray(executions.id, some)).returning({ id: executions.id });
  } while (gone.length === BATCH);
}

/** With the account's row locked: whatever is uploaded from now on finds no account. */
async function leaveFiles(ctx: Context, userId: number) {
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
