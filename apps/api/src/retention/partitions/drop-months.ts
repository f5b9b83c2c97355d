import { type Db, queryRows } from '@carillon/db';
import { listMonths, toEarlierName } from '@carillon/db/partitions/months';
import { detachPartition, type Partition, type PartitionedTable } from '@carillon/db/partitions/partitions';
import { type SQL, sql } from 'drizzle-orm';
import type { PruneBatch } from '../batch.ts';
import { changePartitions } from './change-partitions.ts';

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
      await detachPartition(db, table, month.name);
      await moveToEarlier(db, table, month, isKept);
      await db.execute(sql`drop table ${sql.identifier(month.name)}`);
      deleted = rows;
      isLast = false;
    });
    return { deleted, next: null, isLast };
  };

/** That partition also has a place for rows that are still written for an instant before the first month. */
async function moveToEarlier(db: Db, table: PartitionedTable, { name, until }: Partition, isKept: SQL) {
  const earlierName = toEarlierName(table);
  const [parent, earlier, later, month] = [table.name, earlierName, table.later, name].map((one) =>
    sql.identifier(one),
  );
  const [existing] = await queryRows(db, sql`select from pg_class where relname = ${earlierName} and relkind = 'r'`);
  if (existing) {
    await detachPartition(db, table, earlierName);
    await db.execute(sql`delete from ${earlier} r where not (${isKept})`);
  } else {
    await db.execute(sql`create table ${earlier} (like ${later} including all excluding identity)`);
  }
  await db.execute(sql`insert into ${earlier} select * from ${month} r where ${isKept}`);
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
