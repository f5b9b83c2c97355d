import { type ListVersionsQuery, RESTORED_FIELDS, type TaskVersion } from '@carillon/contract/tasks/versions';
import { queryRows, taskVersions } from '@carillon/db';
import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { readCursorPage } from '../../../platform/queries/pages.ts';
import { getTask, type TaskRow } from '../read.ts';
import { listDefaults } from '../settings.ts';

export type RestoredSettings = Pick<TaskRow, (typeof RESTORED_FIELDS)[number]>;

type VersionRow = Pick<typeof taskVersions.$inferSelect, 'number' | 'userId' | 'via' | 'fields' | 'createdAt'>;

const versionFields = {
  number: taskVersions.number,
  userId: taskVersions.userId,
  via: taskVersions.via,
  fields: taskVersions.fields,
  createdAt: taskVersions.createdAt,
};

/** Throws 404. */
export async function listVersions(ctx: Context, caller: Caller, taskId: number, query: ListVersionsQuery) {
  const task = await getTask(ctx, caller, taskId);
  const { page, pagination } = await readCursorPage(
    query,
    async ({ before, limit, offset }) => {
      const isOfPage = before === null ? undefined : lt(taskVersions.number, before);
      const rows = await ctx.db
        .select(versionFields)
        .from(taskVersions)
        .where(and(eq(taskVersions.taskId, taskId), isOfPage))
        .orderBy(desc(taskVersions.number))
        .limit(limit)
        .offset(offset);
      const isUnrecorded = rows.length === 0 && task.version === 1 && before === null && offset === 0;
      return (isUnrecorded ? [describeCreation(task)] : rows).map((row) => ({ ...row, id: row.number }));
    },
    async () => task.version,
  );
  return { versions: page.map(toVersion), pagination };
}

/** Throws 404. */
export async function getVersion(ctx: Context, caller: Caller, taskId: number, number: number) {
  const [task, [row], settings] = await Promise.all([
    getTask(ctx, caller, taskId),
    ctx.db
      .select(versionFields)
      .from(taskVersions)
      .where(and(eq(taskVersions.taskId, taskId), eq(taskVersions.number, number))),
    readSettings(ctx, taskId, number),
  ]);
  if (row) return { ...toVersion(row), task: settings };
  if (number === 1 && task.version === 1) return { ...toVersion(describeCreation(task)), task: pickRestored(task) };
  throw new AppError('not_found', 'The task has no version of this number');
}

/** A task that is older than versions gets its first one with its first change. */
const describeCreation = ({ userId, createdAt }: TaskRow): VersionRow => ({
  ...{ number: 1, userId, via: 'api', createdAt },
  fields: [...RESTORED_FIELDS],
});

const toVersion = ({ number, createdAt: at, userId: by, via, fields }: VersionRow): TaskVersion => ({
  ...{ number, at, by, via },
  fields: number === 1 ? [] : (fields.filter((field) => field !== 'channels') as TaskVersion['fields']),
});

/** The latest value of each field up to the version; the default for a field that tasks got later. Plan: `task_versions_once`. */
export async function readSettings({ db }: Context, taskId: number, number: number): Promise<RestoredSettings> {
  const found = await queryRows<{ field: string; value: unknown }>(
    db,
    sql`
    select f.field, s.settings -> f.field as value
    from (
      select distinct on (field) field, v.number from task_versions v cross join unnest(v.fields) field
      where v.task_id = ${taskId} and v.number <= ${number} order by field, v.number desc
    ) f join task_versions s on s.task_id = ${taskId} and s.number = f.number`,
  );
  const defaults = listDefaults({ defaultModel: null });
  return pickRestored({ ...defaults, ...Object.fromEntries(found.map(({ field, value }) => [field, value])) });
}

export const pickRestored = (settings: object): RestoredSettings =>
  Object.fromEntries(
    RESTORED_FIELDS.map((field) => [field, (settings as RestoredSettings)[field]]),
  ) as RestoredSettings;
