import { type Db, queryRows } from '@carillon/db';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import { detachPartition, limitWaiting, listPartitions, renameTable } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { recordUsage, type UsageDelta } from '../../usage/record.ts';
import type { PruneBatch } from '../batch.ts';
import { changePartitions } from './change-partitions.ts';
import { HISTORY, readLastId } from './execution-partitions.ts';

/** A partition that was detached and is deleted next. */
const EXPIRED = 'executions_expired_';
const IDS_PER_READ = 100_000;
const DELTAS_PER_WRITE = 1000;

/** Drops the oldest partition if all of its executions ended before `before`, and subtracts them from the counters. */
export const dropExpiredExecutions =
  (before: Date): PruneBatch =>
  async (ctx) => {
    await detachExpired(ctx, before);
    const dropped: number[] = [];
    for (const name of await findDetached(ctx.db)) {
      if (ctx.worker.stopping.aborted) break;
      const rows = await dropDetached(ctx, name);
      if (rows !== null) dropped.push(rows);
    }
    return { deleted: dropped.reduce((sum, rows) => sum + rows, 0), next: null, isLast: dropped.length === 0 };
  };

const detachExpired = (ctx: Context, before: Date): Promise<void> =>
  changePartitions(ctx, async ({ db }) => {
    const oldest = await findOldest(db);
    if (!oldest || !(await hasOnlyExpired(db, oldest.name, before))) return;
    await detachPartition(db, { name: oldest.parent }, oldest.name);
    await renameTable(db, oldest.name, oldest.name.replace('executions_', EXPIRED));
  });

/** Null if only partitions are left that may get further rows. */
async function findOldest(db: Db): Promise<{ parent: string; name: string } | null> {
  const lastId = await readLastId(db);
  const [first] = await listPartitions(db, HISTORY);
  if (!first || first.until === null || Number(first.until) > lastId) return null;
  const [open] = await queryRows(db, sql`select from executions_live where id < ${Number(first.until)} limit 1`);
  return open ? null : { parent: HISTORY.name, name: first.name };
}

/** Looks at the newest one first, which costs nothing: the others ended at about that time or earlier. */
async function hasOnlyExpired(db: Db, partition: string, before: Date): Promise<boolean> {
  const table = sql.identifier(partition);
  const at = before.toISOString();
  const [newest] = await queryRows<{ isExpired: boolean }>(
    db,
    sql`select completed_at < ${at} as is_expired from ${table} order by id desc limit 1`,
  );
  if (newest && !newest.isExpired) return false;
  for (const ids of await listIdRanges(db, partition)) {
    const [kept] = await queryRows(
      db,
      sql`select from ${table} where ${isAmong(ids)} and completed_at >= ${at} limit 1`,
    );
    if (kept) return false;
  }
  return true;
}

interface IdRange {
  from: number;
  until: number;
}

const isAmong = ({ from, until }: IdRange) => sql`id >= ${from} and id < ${until}`;

/** Of all rows, in parts that stay within the time limit of a statement. `until` is not included. */
async function listIdRanges(db: Db, name: string): Promise<IdRange[]> {
  const [ids] = await queryRows<{ first: number | null; last: number | null }>(
    db,
    sql`select min(id) as first, max(id) as last from ${sql.identifier(name)}`,
  ).catch(ignoreMissing);
  const ranges: IdRange[] = [];
  const last = ids?.last ?? -1;
  for (let from = ids?.first ?? 0; from <= last; from += IDS_PER_READ)
    ranges.push({ from, until: from + IDS_PER_READ });
  return ranges;
}

async function findDetached(db: Db): Promise<string[]> {
  const found = await queryRows<{ name: string }>(
    db,
    sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and starts_with(relname, ${EXPIRED}) order by 1`,
  );
  return found.map(({ name }) => name);
}

/** Its rows cannot change any more, so they are counted before the transaction, which then is short. Null if it is in use or gone. */
async function dropDetached(ctx: Context, name: string): Promise<number | null> {
  const deltas = await countEnded(ctx, name);
  await deleteTexts(ctx, name);
  let deleted: number | null = null;
  await changePartitions(ctx, async (tx) => {
    if (!(await findDetached(tx.db)).includes(name)) return;
    for (let at = 0; at < deltas.length; at += DELTAS_PER_WRITE) {
      await recordUsage(tx, deltas.slice(at, at + DELTAS_PER_WRITE));
    }
    await limitWaiting(tx.db);
    await tx.db.execute(sql`drop table ${sql.identifier(name)}`);
    deleted = deltas.reduce((sum, { completed = 0, failed = 0 }) => sum - completed - failed, 0);
  });
  return deleted;
}

/** The words that a search finds them by, and what was asked about them. */
async function deleteTexts({ db }: Context, name: string): Promise<void> {
  for (const { from, until } of await listIdRanges(db, name)) {
    const isOfRange = sql`execution_id >= ${from} and execution_id < ${until}`;
    await db.execute(sql`delete from run_texts where ${isOfRange}`);
    await db.execute(sql`delete from run_questions where ${isOfRange}`);
  }
}

interface Ended {
  userId: number;
  day: string;
  completed: number;
  failed: number;
}

/** Negative, and in the order in which counters are locked. */
async function countEnded({ db }: Context, name: string): Promise<UsageDelta[]> {
  const table = sql.identifier(name);
  const ended = new Map<string, Ended>();
  for (const ids of await listIdRanges(db, name)) {
    const found = await queryRows<Ended>(
      db,
      sql`
      select user_id, coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text as day,
        count(*) filter (where status = 'completed')::int as completed, count(*) filter (where status = 'failed')::int as failed
      from ${table} where ${isAmong(ids)} group by 1, 2`,
    ).catch(ignoreMissing);
    for (const { userId, day, completed, failed } of found) {
      const sum = ended.get(`${userId} ${day}`) ?? { userId, day, completed: 0, failed: 0 };
      ended.set(`${userId} ${day}`, { userId, day, completed: sum.completed - completed, failed: sum.failed - failed });
    }
  }
  return [...ended.values()].sort((a, b) => a.userId - b.userId || (a.day < b.day ? -1 : 1));
}

/** Another process was faster. */
function ignoreMissing(error: unknown): [] {
  if (databaseErrorCode(error) === SQLSTATE.undefinedTable) return [];
  throw error;
}
