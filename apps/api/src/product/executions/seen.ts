import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { executionNotFound } from '../../errors.ts';
import { countUnseenSql, isUnseen, selectFirstUnsettled } from '../../platform/queries/runs.ts';

/** One statement marks no more, so that it stays short. */
const MAX_MARKED = 5000;

export async function countUnseen({ db }: Context, { id }: Pick<Caller, 'id'>): Promise<number> {
  const [row] = await queryRows<{ unseen: number }>(db, sql`select ${countUnseenSql(sql`${id}::int`)} as unseen`);
  return row?.unseen ?? 0;
}

/** Returns 1 if it was unseen. Throws 404. */
export async function seeExecution({ db, now }: Context, caller: Caller, id: number): Promise<number> {
  const [found] = await queryRows<{ seen: number }>(
    db,
    sql`
    with seen as (
      update executions set seen_at = ${now().toISOString()}
      where id = ${id} and user_id = ${caller.id} and ${isUnseen(sql`executions`, sql`${caller.id}`)} returning 1
    )
    select (select count(*)::int from seen) as seen from executions where id = ${id} and user_id = ${caller.id}`,
  );
  if (!found) throw executionNotFound();
  return found.seen;
}

/** Returns how many were unseen. */
export async function seeExecutions(ctx: Context, { id: userId }: Caller, { before }: { before?: string } = {}) {
  const now = ctx.now().toISOString();
  const isAmong =
    before === undefined ? sql`true` : sql`e.completed_at < ${new Date(before).toISOString()}::timestamptz`;
  let seen = 0;
  for (let marked = MAX_MARKED; marked === MAX_MARKED; seen += marked) {
    const rows = await queryRows(
      ctx.db,
      sql`
      with unseen as materialized (
        select e.id from executions e
        where e.user_id = ${userId} and ${isUnseen(sql`e`, sql`${userId}`)} and ${isAmong} order by e.id desc limit ${MAX_MARKED}
      )
      update executions e set seen_at = ${now} from unseen where e.id = unseen.id and e.seen_at is null returning 1`,
    );
    marked = rows.length;
  }
  await ctx.db.execute(sql`
    update users u set unseen_from_id = greatest(u.unseen_from_id, least(
      (select min(e.id) from executions e where e.user_id = u.id and ${isUnseen(sql`e`, sql`u.id`)}),
      ${selectFirstUnsettled(sql`u.id`, ctx.now())}))
    where u.id = ${userId}`);
  return seen;
}
