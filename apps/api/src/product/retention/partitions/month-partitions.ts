import type { Db } from '@carillon/db';
import { listPartitions, type Partition, type PartitionedTable, splitLast } from '@carillon/db/partitions';

const byMonth = (name: string, key: string, references?: string): PartitionedTable => ({
  name,
  key,
  later: `${name}_later`,
  ...(references && { references }),
});

export const OCCURRENCES = byMonth('occurrences', 'planned_for', 'tasks');
export const EVENTS = byMonth('events', 'created_at');
export const USAGE_RECORDS = byMonth('usage_records', 'day', 'users');
export const AUDIT_LOG = byMonth('audit_log', 'at');

export const MONTHLY_TABLES = [OCCURRENCES, EVENTS, USAGE_RECORDS, AUDIT_LOG];

/** Makes the partitions of all months up to the next one. */
export async function prepareMonths(db: Db, table: PartitionedTable, now: Date): Promise<void> {
  for (;;) {
    const month = await findMissingMonth(db, table, now);
    if (!month) return;
    const name = `${table.name}_${toMonth(month).replace('-', '_')}`;
    await splitLast(db, table, { name, until: `${toMonth(addMonths(month, 1))}-01 00:00:00+00` });
  }
}

/** Returns the first month without a partition, or null if this month and the next one have theirs. */
export async function findMissingMonth(db: Db, table: PartitionedTable, now: Date): Promise<Date | null> {
  const { from } = (await listPartitions(db, table)).at(-1) as Partition;
  const month = new Date(from as string);
  return month > addMonths(now, 1) ? null : month;
}

/** Such as `2026-11`, in UTC. */
const toMonth = (at: Date): string => at.toISOString().slice(0, 7);

/** The start of a later UTC month. */
const addMonths = (at: Date, months: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));
