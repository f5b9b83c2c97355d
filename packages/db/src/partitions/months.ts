import type { Db } from '../client.ts';
import { listPartitions, type Partition, type PartitionedTable } from './partitions.ts';

/** The end of the name of the partition for all that is older than the first month. */
const EARLIER = '_earlier';

export const toEarlierName = (table: PartitionedTable): string => `${table.name}${EARLIER}`;

/** The partitions of a table by month, without the one for what is older. */
export async function listMonths(db: Db, table: Pick<PartitionedTable, 'name'>): Promise<Partition[]> {
  return (await listPartitions(db, table)).filter(({ name }) => !name.endsWith(EARLIER));
}
