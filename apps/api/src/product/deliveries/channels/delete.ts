import { endpoints, tasks, users } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { assertRevision, type ExpectedRevisions } from '../../../platform/queries/revision.ts';
import { inTransaction } from '../../../transaction.ts';
import { changedOverdueAt } from '../../notifications/alerts/overdue.ts';
import { channelNotFound, isOwnChannel } from './read.ts';

/** Deletes a channel with its log, and removes it from tasks and settings. Throws 404, 412. */
export async function deleteChannel(
  ctx: Context,
  caller: Caller,
  id: string,
  expected: ExpectedRevisions = null,
): Promise<void> {
  while (!(await inTransaction(ctx, (tx) => tryDelete(tx, caller, id.toLowerCase(), expected))));
}

const taskColumns = {
  id: tasks.id,
  userId: tasks.userId,
  name: tasks.name,
  status: tasks.status,
  nextExecutionAt: tasks.nextExecutionAt,
  webhookUrl: tasks.webhookUrl,
  channels: tasks.channels,
  notificationEmail: tasks.notificationEmail,
  alerts: tasks.alerts,
};

/**
 * Locks tasks, then the channel, then the account, as saving a task does. Returns false, and has done nothing, if a task was
 * saved with the channel in between: its lock would come too late.
 */
async function tryDelete(ctx: Context, caller: Caller, id: string, expected: ExpectedRevisions): Promise<boolean> {
  const isNaming = and(eq(tasks.userId, caller.id), sql`${tasks.channels} @> array[${id}::uuid]`);
  const naming = await ctx.db.select(taskColumns).from(tasks).where(isNaming).orderBy(tasks.id).for('no key update');
  const [channel] = await ctx.db
    .select({
      kind: endpoints.kind,
      name: endpoints.name,
      isForAccount: endpoints.isForAccount,
      revision: endpoints.revision,
    })
    .from(endpoints)
    .where(isOwnChannel(caller, id))
    .for('update');
  if (!channel) throw channelNotFound();
  assertRevision(channel, expected);
  if ((await ctx.db.$count(tasks, isNaming)) > naming.length) return false;

  for (const task of naming) await removeFromTask(ctx, task, id);
  await ctx.db.delete(endpoints).where(eq(endpoints.id, id));
  // So that the ETag of the settings changes.
  if (channel.isForAccount) await ctx.db.update(users).set({ updatedAt: ctx.now() }).where(eq(users.id, caller.id));
  const details = { channelId: id, kind: channel.kind, name: channel.name };
  await recordAudit(ctx, { kind: 'channel.deleted', ...describeActor(caller), details });
  return true;
}

type NamingTask = Pick<typeof tasks.$inferSelect, keyof typeof taskColumns>;

async function removeFromTask(ctx: Context, task: NamingTask, channelId: string): Promise<void> {
  const now = ctx.now();
  const channels = task.channels.filter((one) => one !== channelId);
  await ctx.db
    .update(tasks)
    .set({ channels, overdueAt: changedOverdueAt({ ...task, channels }), updatedAt: now })
    .where(eq(tasks.id, task.id));
  const changes = { channels: { from: task.channels, to: channels } };
  const data = { task: { id: task.id, name: task.name, updatedAt: now }, changes };
  recordEvents(ctx, [{ kind: 'task.updated', userId: task.userId, taskId: task.id, data }]);
}
