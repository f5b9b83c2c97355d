import type postgres from 'postgres';

/** A table that a backup holds. */
export interface BackupTable {
  name: string;
  /** Without generated columns. */
  columns: string[];
  /** Its rows are those of its partitions, which are no tables of the backup. */
  isPartitioned: boolean;
  size: number;
}

type TableWithReferences = BackupTable & { references: string[] };

/** All tables, each after those that it references. Without unlogged ones, whose rows may be lost at any time. */
export async function findTables(sql: postgres.ISql): Promise<BackupTable[]> {
  const found = await sql<TableWithReferences[]>`
    select c.relname as name,
      (pg_table_size(c.oid) + coalesce((select sum(pg_table_size(relid)) from pg_partition_tree(c.oid) where relid <> c.oid), 0))::float8 as size,
      c.relkind = 'p' as "isPartitioned",
      (select json_agg(attname order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(json_agg(distinct confrelid::regclass::text), '[]') from pg_constraint
        where (conrelid = c.oid or conrelid in (select relid from pg_partition_tree(c.oid))) and contype = 'f'
          and confrelid <> c.oid) as references
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p'
      and not c.relispartition and not starts_with(c.relname, 'executions_expired_')
    order by c.relname`;
  return sortByReferences(found);
}

function sortByReferences(tables: readonly TableWithReferences[]): BackupTable[] {
  const ordered = new Map<string, BackupTable>();
  const add = ({ references, ...table }: TableWithReferences) => {
    if (ordered.has(table.name)) return;
    for (const other of tables) if (references.includes(other.name)) add(other);
    ordered.set(table.name, table);
  };
  for (const table of tables) add(table);
  return [...ordered.values()];
}

export const copyTarget = ({ name, columns }: Pick<BackupTable, 'name' | 'columns'>): string =>
  `public.${quoted(name)} (${columns.map(quoted).join(', ')})`;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
