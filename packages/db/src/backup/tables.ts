import type postgres from 'postgres';

/** A table that a backup holds. */
export interface BackupTable {
  name: string;
  /** Those that hold values of their own, in the order in which a backup writes them. */
  columns: string[];
  /** Roughly what there is to read, in bytes. */
  size: number;
}

type Found = BackupTable & { references: string[] };

/**
 * The tables of Carillon, each after those that its rows refer to. Unlogged ones are left out: they hold what may be
 * lost at any time.
 */
export async function findTables(sql: postgres.ISql): Promise<BackupTable[]> {
  const found = await sql<Found[]>`
    select c.relname as name, pg_table_size(c.oid)::float8 as size,
      (select json_agg(attname order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(json_agg(distinct confrelid::regclass::text), '[]') from pg_constraint
        where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as references
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
    order by c.relname`;
  return inOrder(found);
}

function inOrder(tables: readonly Found[]): BackupTable[] {
  const ordered = new Map<string, BackupTable>();
  const place = ({ references, ...table }: Found) => {
    if (ordered.has(table.name)) return;
    for (const other of tables) if (references.includes(other.name)) place(other);
    ordered.set(table.name, table);
  };
  for (const table of tables) place(table);
  return [...ordered.values()];
}

/** A table and its columns as COPY takes them. */
export const copyTarget = ({ name, columns }: Pick<BackupTable, 'name' | 'columns'>): string =>
  `public.${quoted(name)} (${columns.map(quoted).join(', ')})`;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
