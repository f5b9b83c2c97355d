import { type Db, queryRows } from '@carillon/db';
import {
  detachPartition,
  limitWaiting,
  listMonths,
  type Partition,
  type PartitionedTable,
  toEarlierName,
} from '@carillon/db/partitions';
import { type SQL, sql } from 'drizzle-orm';
import type { PruneBatch } from '../batch.ts';
import { changePartitions } from './change-partitions.ts';

const PAGES_PER_READ = 1000;

/**
 * Drops the oldest month of a table if it ended before `before`, except rows for which `isKept` holds (of the alias `r`). The
 * number of deleted rows is PostgreSQL's estimate.
 */
export const dropExpiredMonth =
  (table: PartitionedTable, before: Date, isKept: SQL = sql`false`): PruneBatch =>
  async (ctx) => {
    let deleted = 0;
    let isLast = true;
    await changePartitions(ctx, async ({ db }) => {
      const [month] = await listMonths(db, table);
      if (!month || month.until === null || new Date(month.until) > before) return;
      const rows = await estimateRows(db, month.name);
      await copyKept(db, month.name, isKept);
      await detachPartition(db, table, month.name);
      await moveToEarlier(db, table, month, isKept);
      await db.execute(sql`drop table ${sql.identifier(month.name)}`);
      deleted = rows;
      isLast = false;
    });
    return { deleted, next: null, isLast };
  };

/** To the temporary table `kept`, before others wait, and in parts that stay within the time limit of a statement. */
async function copyKept(db: Db, name: string, isKept: SQL) {
  const month = sql.identifier(name);
  await limitWaiting(db);
  await db.execute(sql`lock table ${month} in share mode`);
  await db.execute(sql`create temporary table kept on commit drop as select * from ${month} with no data`);
  const pages = await countPages(db, name);
  for (let page = 0; page < pages; page += PAGES_PER_READ) {
    await db.execute(sql`
      insert into kept select * from ${month} r
      where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${page + PAGES_PER_READ},0)`}::tid and (${isKept})`);
  }
}

async function countPages(db: Db, table: string): Promise<number> {
  const [row] = await queryRows<{ pages: number }>(
    db,
    sql`select ceil(pg_relation_size(${table}::regclass) / current_setting('block_size')::float8)::int as pages`,
  );
  return row?.pages ?? 0;
}

/** That partition also has a place for rows that are still written for an instant before the first month. */
async function moveToEarlier(db: Db, table: PartitionedTable, { until }: Partition, isKept: SQL) {
  const earlierName = toEarlierName(table);
  const [parent, earlier, later] = [table.name, earlierName, table.later].map((one) => sql.identifier(one));
  const [existing] = await queryRows(db, sql`select from pg_class where relname = ${earlierName} and relkind = 'r'`);
  if (existing) {
    await detachPartition(db, table, earlierName);
    await db.execute(sql`delete from ${earlier} r where not (${isKept})`);
  } else {
    await db.execute(sql`create table ${earlier} (like ${later} including all excluding identity)`);
  }
  await db.execute(sql`insert into ${earlier} select * from kept`);
  await db.execute(
    sql`alter table ${parent} attach partition ${earlier} for values from (minvalue) to (${sql.raw(`'${until}'`)})`,
  );
}

async function estimateRows(db: Db, table: string): Promise<number> {
  const [row] = await queryRows<{ rows: number }>(
    db,
    sql`select greatest(0, reltuples)::int as rows from pg_class where oid = ${table}::regclass`,
  );
  return row?.rows ?? 0;
}
