import { MAX_ID } from '@carillon/contract/primitives';
import { type Db, queryRows } from '@carillon/db';
import { listPartitions, type Partition, type PartitionedTable, splitLast } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import { toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';

export const HISTORY: PartitionedTable = { name: 'executions_history', key: 'id', later: 'executions_later' };

/** The fewest ids that a partition has. */
const MIN_IDS = 100_000;

/**
 * Begins a partition with each month, by skipping ids, and makes the one after it ahead: with twice the ids that the month
 * before needed. A partition that is full before its month ends is followed by the next one.
 */
export async function prepareExecutionPartitions(db: Db, now: Date): Promise<void> {
  const lastId = await readLastId(db);
  const partitions = await listPartitions(db, HISTORY);
  const at = partitions.findIndex(({ until }) => until === null || lastId < Number(until));
  const [before, current, next] = [partitions[at - 1], partitions[at] as Partition, partitions[at + 1]];
  if (next && (await isOfEarlierMonth(db, current, now))) {
    await db.execute(sql`select setval('executions_id_seq', ${Number(next.from)}, false)`);
    return prepareExecutionPartitions(db, now);
  }
  if (next && next.until !== null) return;
  const from = Number(partitions.at(-1)?.from);
  const ids = Math.max(MIN_IDS, 2 * (await countIds(db, before, lastId)));
  await splitLast(db, HISTORY, {
    name: `executions_from_${from}`,
    until: String(Math.min(Math.max(from, lastId) + ids, MAX_ID)),
  });
}

export async function readLastId(db: Db): Promise<number> {
  const [row] = await queryRows<{ id: number }>(db, sql`select last_value::float8 as id from executions_id_seq`);
  return row?.id ?? 0;
}

/** By its first run. The live ones, which have no order by time, are left out. */
async function isOfEarlierMonth(db: Db, { name }: Partition, now: Date): Promise<boolean> {
  const [first] = await queryRows<{ month: string }>(
    db,
    sql`select to_char(created_at at time zone 'UTC', 'YYYY-MM') as month from ${sql.identifier(name)} order by id limit 1`,
  );
  return first !== undefined && first.month < toUtcMonth(toUtcDay(now));
}

async function countIds(db: Db, partition: Partition | undefined, lastId: number): Promise<number> {
  if (!partition) return lastId;
  const [row] = await queryRows<{ id: number | null }>(
    db,
    sql`select max(id) as id from ${sql.identifier(partition.name)}`,
  );
  return (row?.id ?? 0) - Number(partition.from ?? 0);
}
