import { type Db, queryRows, settings, uploadTotals, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeleted } from '../../errors.ts';
import { getPlanLimits, planColumns } from '../../platform/limits/plan-limits.ts';

/** Locked until the transaction ends: no two decisions use the same remainder. */
export async function lockTotals(
  { db }: Context,
  { id }: Pick<Caller, 'id'>,
): Promise<{ used: number; limit: number }> {
  await db.insert(uploadTotals).values({ userId: id }).onConflictDoNothing();
  const [row] = await db
    .select({ used: uploadTotals.bytes, ...planColumns })
    .from(uploadTotals)
    .innerJoin(users, eq(users.id, uploadTotals.userId))
    .crossJoin(settings)
    .where(eq(uploadTotals.userId, id))
    .for('update', { of: uploadTotals });
  if (!row) throw accountDeleted();
  return { used: row.used, limit: getPlanLimits(row).uploadBytes };
}

export async function addToTotals(ctx: Context, userId: number, { bytes, files }: { bytes: number; files: number }) {
  await ctx.db
    .update(uploadTotals)
    .set({ bytes: sql`${uploadTotals.bytes} + ${bytes}`, files: sql`${uploadTotals.files} + ${files}` })
    .where(eq(uploadTotals.userId, userId));
}

interface StoredFiles {
  bytes: number;
  files: number;
}

interface WrongTotal {
  userId: number;
  counted: StoredFiles;
  due: StoredFiles;
}

/** One statement, so it may run beside the service. */
export async function findWrongTotals(db: Db): Promise<WrongTotal[]> {
  const found = await queryRows<WrongTotal>(
    db,
    sql`
    with due as (select user_id, sum(size) as bytes, count(*) as files from uploads group by user_id),
    compared as (
      select user_id,
        jsonb_build_object('bytes', coalesce(t.bytes, 0), 'files', coalesce(t.files, 0)) as counted,
        jsonb_build_object('bytes', coalesce(due.bytes, 0), 'files', coalesce(due.files, 0)) as due
      from upload_totals t full join due using (user_id)
    )
    select user_id, counted, due from compared where counted <> due order by user_id`,
  );
  return [...found];
}
