import { sql } from 'drizzle-orm';
import type { Db } from './client.ts';
import { queryRows } from './queries.ts';

/** A table with partitions by ranges of a column. The last one has no end: rows beyond the others go there. */
export interface PartitionedTable {
  name: string;
  key: string;
  /** The partition without an end. */
  later: string;
  /** The table of its foreign key. */
  references?: string;
}

/** Bounds are in PostgreSQL's format: `from` is included, `until` is not. Null for none. */
export interface Partition {
  name: string;
  from: string | null;
  until: string | null;
}

/** A statement of these waits for readers of the table, and others wait behind it. The caller tries again later. */
const LOCK_TIMEOUT_MS = 500;
/** Requests wait while a statement has its lock, and would fail after 3.5 s. */
const STATEMENT_TIMEOUT_MS = 1000;

/** In the order of their ranges. */
export async function listPartitions(db: Db, { name }: Pick<PartitionedTable, 'name'>): Promise<Partition[]> {
  const found = await queryRows<{ name: string; bounds: string }>(
    db,
    sql`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = ${name}::regclass`,
  );
  return found
    .map(({ name, bounds }) => ({ name, ...parseBounds(bounds) }))
    .sort((a, b) => toNumber(a.until) - toNumber(b.until));
}

/** Of an expression such as `FOR VALUES FROM (MINVALUE) TO (200000)`. */
export function parseBounds(bounds: string): Pick<Partition, 'from' | 'until'> {
  const [, from = null, until = null] = /^FOR VALUES FROM \('?(.+?)'?\) TO \('?(.+?)'?\)$/.exec(bounds) ?? [];
  return { from: from === 'MINVALUE' ? null : from, until: until === 'MAXVALUE' ? null : until };
}

/** Of an id, an instant or a day. */
function toNumber(bound: string | null): number {
  if (bound === null) return Number.MAX_VALUE;
  return /^\d+$/.test(bound) ? Number(bound) : Date.parse(bound);
}

/**
 * Makes a partition of the start of the last one, up to `until`, in the caller's transaction. Rows there are moved to it.
 * Throws 55P03 if readers keep the table locked, and 57014 if it takes too long.
 */
export async function splitLast(
  db: Db,
  table: PartitionedTable,
  created: Pick<Partition, 'name' | 'until'>,
): Promise<void> {
  const [parent, later, key, name] = [table.name, table.later, table.key, created.name].map((word) =>
    sql.identifier(word),
  );
  const last = (await listPartitions(db, table)).at(-1);
  const from = toBound(last?.from ?? null, 'MINVALUE');
  const until = toBound(created.until, 'MAXVALUE');
  await lockReferenced(db, table);
  // In the order of readers, who lock the partitioned table first: in the other one each would wait for the other.
  await db.execute(sql`lock table only ${parent} in access exclusive mode`);
  await db.execute(sql`lock table ${later} in access exclusive mode`);
  await db.execute(sql`create table ${name} (like ${later} including all excluding identity)`);
  await db.execute(sql`
    with moved as (delete from ${later} where ${key} < ${until} returning *) insert into ${name} select * from moved`);
  await db.execute(sql`alter table ${parent} detach partition ${later}`);
  await db.execute(sql`alter table ${parent} attach partition ${name} for values from (${from}) to (${until})`);
  await db.execute(sql`alter table ${parent} attach partition ${later} for values from (${until}) to (maxvalue)`);
}

/** Makes a partition a table of its own, in the caller's transaction, which may drop it. Throws 55P03 like `splitLast`. */
export async function detachPartition(
  db: Db,
  table: Pick<PartitionedTable, 'name' | 'references'>,
  partition: string,
): Promise<void> {
  await lockReferenced(db, table);
  await db.execute(sql`alter table ${sql.identifier(table.name)} detach partition ${sql.identifier(partition)}`);
}

export const renameTable = (db: Db, from: string, to: string) =>
  db.execute(sql`alter table ${sql.identifier(from)} rename to ${sql.identifier(to)}`);

/** First, because other transactions use it before the partitioned table: in the other order each would wait for the other. */
async function lockReferenced(db: Db, { references }: Pick<PartitionedTable, 'references'>) {
  await limitWaiting(db);
  if (references) await db.execute(sql`lock table ${sql.identifier(references)} in access exclusive mode`);
}

/** For the rest of the transaction. */
export const limitWaiting = (db: Db) =>
  db.execute(sql`
    select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true),
      set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true)`);

/** Statements that define tables take no parameters. */
const toBound = (bound: string | null, unbounded: 'MINVALUE' | 'MAXVALUE') => {
  if (bound === null) return sql.raw(unbounded);
  if (!/^[\d :+.-]+$/.test(bound)) throw new Error(`Not a bound: ${bound}`);
  return sql.raw(`'${bound}'`);
};

/** The end of the name of the partition for all that is older than the first month. */
const EARLIER = '_earlier';

export const toEarlierName = (table: PartitionedTable): string => `${table.name}${EARLIER}`;

/** The partitions of a table by month, without the one for what is older. */
export async function listMonths(db: Db, table: Pick<PartitionedTable, 'name'>): Promise<Partition[]> {
  return (await listPartitions(db, table)).filter(({ name }) => !name.endsWith(EARLIER));
}
