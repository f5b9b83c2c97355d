import type { WebActionInput } from '@carillon/contract/actions/web/index';
import { isUuid } from '@carillon/contract/validation/formats';
import { queryRows, toInstant } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted } from '../../errors.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../../platform/limits/plan-limits.ts';
import { encodeCursor, parseCursorInstant, unknownCursor } from '../../platform/queries/pages.ts';

/** Tasks that are named beside a file in a list. */
const MAX_NAMED_TASKS = 3;
const MAX_TASKS = 20;

interface FileRow {
  id: string;
  name: string;
  type: string;
  size: number;
  uploadedAt: string;
  url: string | null;
  tasks: { id: number; name: string }[];
}

/** Newest first, in two statements. */
export async function listFiles(ctx: Context, caller: Caller, { limit, cursor }: WebActionInput<'listFiles'>) {
  const before = cursor === undefined ? null : decodeCursor(cursor);
  const after = before
    ? sql`and (u.uploaded_at, u.id) < (${before.at.toISOString()}::timestamptz, ${before.id}::uuid)`
    : sql``;
  const [rows, storage] = await Promise.all([
    readRows(
      ctx,
      MAX_NAMED_TASKS,
      sql`where u.user_id = ${caller.id} ${after} order by u.uploaded_at desc, u.id desc limit ${limit + 1}`,
    ),
    readStorage(ctx, caller),
  ]);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const nextCursor = last ? encodeCursor(`${last.uploadedAt.toISOString()} ${last.id}`) : null;
  return { files: page, nextCursor, storage };
}

/** Throws 404, also for the file of another user. */
export async function getFile(ctx: Context, caller: Caller, id: string) {
  const [file] = await readRows(ctx, MAX_TASKS, sql`where u.user_id = ${caller.id} and u.id = ${id}::uuid`);
  if (!file) throw new AppError('not_found', 'File not found');
  return file;
}

/** One task more than is named tells whether there are more. */
async function readRows({ db }: Context, maxTasks: number, rest: SQL) {
  const rows = await queryRows<FileRow>(
    db,
    sql`
    select u.id, u.name, u.type, u.size, u.uploaded_at, case when u.storage = 'blob' then u.url end as url,
      (select coalesce(jsonb_agg(to_jsonb(used) order by used.id), '[]') from (
        select t.id, t.name from tasks t
        where t.user_id = u.user_id and t.attachment_ids <> '{}' and t.attachment_ids @> array[u.id]
        limit ${maxTasks + 1}) used) as tasks
    from uploads u ${rest}`,
  );
  return rows.map(({ uploadedAt, tasks, ...row }) => ({
    ...row,
    uploadedAt: toInstant(uploadedAt),
    tasks: tasks.slice(0, maxTasks),
    hasMoreTasks: tasks.length > maxTasks,
  }));
}

async function readStorage({ db }: Context, { id }: Caller) {
  const [row] = await queryRows<PlanRow & { bytes: number; files: number }>(
    db,
    sql`
    select ${planColumnsSql}, coalesce(t.bytes, 0)::float8 as bytes, coalesce(t.files, 0) as files
    from users u cross join settings s left join upload_totals t on t.user_id = u.id where u.id = ${id}`,
  );
  if (!row) throw accountDeleted();
  return { files: row.files, usedBytes: row.bytes, limitBytes: getPlanLimits(row).uploadBytes };
}

function decodeCursor(cursor: string): { at: Date; id: string } {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [at = '', id = ''] = text.split(' ');
  if (encodeCursor(text) !== cursor || !isUuid(id)) throw unknownCursor();
  return { at: parseCursorInstant(at), id };
}
