import type postgres from 'postgres';
import { type Partition, parseBounds } from '../partitions.ts';
import { quoted } from './tables.ts';

export interface BackupPartition extends Partition {
  parent: string;
}

/** The partitions by ranges, of all tables. */
export async function findPartitions(sql: postgres.ISql): Promise<BackupPartition[]> {
  const found = await sql<{ parent: string; name: string; bounds: string }[]>`
    select p.relname as parent, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_inherits join pg_class c on c.oid = inhrelid join pg_class p on p.oid = inhparent
      join pg_partitioned_table t on t.partrelid = p.oid
    where p.relnamespace = 'public'::regnamespace and t.partstrat = 'r' order by 1, 2`;
  return found.map(({ parent, name, bounds }) => ({ parent, name, ...parseBounds(bounds) }));
}

/** Replaces the partitions of empty tables. The others are as the migrations made them. */
export async function replacePartitions(tx: postgres.TransactionSql, partitions: readonly BackupPartition[]) {
  const parents = new Set(partitions.map(({ parent }) => parent));
  const made = (await findPartitions(tx)).filter(({ parent }) => parents.has(parent));
  for (const { parent, name } of made)
    await tx.unsafe(`alter table ${toTable(parent)} detach partition ${toTable(name)}`);
  const kept = new Set(made.map(({ name }) => name));
  for (const { parent, name, from, until } of partitions) {
    const like = made.find((one) => one.parent === parent)?.name;
    if (!like) throw new Error(`${parent} has no partitions.`);
    if (!kept.delete(name))
      await tx.unsafe(`create table ${toTable(name)} (like ${toTable(like)} including all excluding identity)`);
    await tx.unsafe(`alter table ${toTable(parent)} attach partition ${toTable(name)}
      for values from (${toBound(from, 'minvalue')}) to (${toBound(until, 'maxvalue')})`);
  }
  for (const name of kept) await tx.unsafe(`drop table ${toTable(name)}`);
}

const toTable = (name: string) => `public.${quoted(name)}`;
const toBound = (bound: string | null, unbounded: string) =>
  bound === null ? unbounded : `'${bound.replaceAll("'", "''")}'`;
