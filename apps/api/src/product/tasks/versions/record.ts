import { RESTORED_FIELDS, VERSION_FIELDS, VERSION_MINUTES } from '@carillon/contract/tasks/versions';
import { recordset, taskVersions } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { atCommit } from '../../../transaction.ts';
import type { TaskRow } from '../read.ts';
import { pickRestored, readSettings } from './read.ts';

const MERGED_MS = VERSION_MINUTES * 60_000;

/** Stores the first version of new tasks with the last writes of the transaction. */
export function recordFirstVersions(tx: Context, tasks: readonly TaskRow[]): void {
  atCommit(tx, insertFirstVersions, tasks);
}

/** One statement for any number of tasks: arrays are a parameter each. */
const insertFirstVersions = async (tx: Context, tasks: readonly TaskRow[]): Promise<void> => {
  if (tasks.length === 0) return;
  const versions = tasks.map((task) => {
    const { taskId, userId, settings, createdAt } = toFirstVersion(task);
    return { taskId, userId, settings: JSON.stringify(settings), createdAt };
  });
  const columns = { taskId: 'int', userId: 'int', settings: 'text', createdAt: 'timestamptz' };
  await tx.db.execute(sql`
    insert into task_versions (task_id, number, user_id, via, fields, settings, created_at)
    select task_id, 1, user_id, ${tx.via ?? 'api'}::text, ${`{${RESTORED_FIELDS.join(',')}}`}::text[], settings::json, created_at
    from ${recordset('v', versions, columns)}
    on conflict do nothing`);
};

const toFirstVersion = (task: TaskRow) => ({
  taskId: task.id,
  number: 1,
  userId: task.userId,
  via: 'api' as const,
  fields: [...RESTORED_FIELDS],
  settings: pickRestored(task),
  createdAt: task.createdAt,
});

/**
 * Stores what a run uses after a change, and returns the number of the version, which is that of `before` if nothing of it
 * changed. The row of the task is locked: changes come one after the other, and no run starts in between.
 */
export async function recordVersion(
  tx: Context,
  { id: userId }: Caller,
  before: TaskRow,
  after: TaskRow,
  { isRestored }: { isRestored: boolean },
): Promise<number> {
  const changed = VERSION_FIELDS.filter((field) => !isEqual(before[field], after[field]));
  if (changed.length === 0) return before.version;
  // A task that is older than versions has none.
  if (before.version === 1) await tx.db.insert(taskVersions).values(toFirstVersion(before)).onConflictDoNothing();
  const via = tx.via ?? 'api';
  const now = tx.now();
  const latest = isRestored ? null : await findMerging(tx, before);
  const isMerged =
    latest?.via === via && latest.userId === userId && now.getTime() - latest.createdAt.getTime() <= MERGED_MS;
  if (isMerged) {
    const previous = await readSettings(tx, before.id, before.version - 1);
    const fields = VERSION_FIELDS.filter((field) => !isEqual(previous[field], after[field]));
    await tx.db.update(taskVersions).set(toStored(after, fields)).where(eq(taskVersions.id, latest.id));
    return before.version;
  }
  const number = before.version + 1;
  const version = { taskId: before.id, number, userId, via, createdAt: now };
  await tx.db.insert(taskVersions).values({ ...version, ...toStored(after, changed) });
  return number;
}

/** The latest version, if it is a change that no run has used. */
async function findMerging({ db }: Context, { id, version, usedVersion }: TaskRow) {
  if (version === 1 || usedVersion === version) return null;
  const [latest] = await db
    .select({
      id: taskVersions.id,
      via: taskVersions.via,
      userId: taskVersions.userId,
      createdAt: taskVersions.createdAt,
    })
    .from(taskVersions)
    .where(and(eq(taskVersions.taskId, id), eq(taskVersions.number, version)));
  return latest ?? null;
}

/** Channels may have changed without a version. */
function toStored(task: TaskRow, changed: readonly (typeof VERSION_FIELDS)[number][]) {
  const fields = [...changed, 'channels' as const];
  return { fields, settings: Object.fromEntries(fields.map((field) => [field, task[field]])) };
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
