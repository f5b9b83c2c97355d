import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';

/** The rows that one statement inspects and deletes: few enough that no request waits long for its locks. */
export const BATCH_SIZE = 1000;

export interface Batch {
  deleted: number;
  /** The key after which the next batch begins; null for the start of the table. */
  next: string | null;
  isLast: boolean;
}

/** Prunes the batch after a key, null for the first one. Several processes may do so at once. */
export type PruneBatch = (ctx: Context, after: string | null) => Promise<Batch>;

export type BatchRow = Pick<Batch, 'deleted' | 'next'>;

export const toBatch = ({ deleted, next }: BatchRow): Batch => ({ deleted, next, isLast: next === null });

/** For keys that have several rows each: a full batch may have left rows of its keys, so the next one begins with them again. */
export function toBatchOfKeys(row: BatchRow, after: string | null): Batch {
  const batch = toBatch(row);
  return batch.deleted < BATCH_SIZE ? batch : { ...batch, next: after, isLast: false };
}

export const afterKey = (key: ReturnType<typeof sql.identifier>, after: string | null): SQL =>
  after === null ? sql`` : sql`where ${key} > ${after}`;

interface KeyedTable {
  table: string;
  primaryKey: string;
  /** Once true for a row, it stays true. */
  isExpired: SQL;
  /** Keys grow with time: a batch that ends with a row that is not expired is the last one. */
  isChronological?: boolean;
}

/** In the order of its primary key, so that no index on time is needed, which every insert would pay for. */
export function pruneByKey({ table, primaryKey, isExpired, isChronological = false }: KeyedTable): PruneBatch {
  const [from, id] = [sql.identifier(table), sql.identifier(primaryKey)];
  return async ({ db }, after) => {
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select ${id} as key, ${isExpired} as is_expired from ${from} ${afterKey(id, after)}
        order by ${id} limit ${BATCH_SIZE}
      ), deleted as (
        delete from ${from} where ${id} = any(array(
          select ${id} from ${from} where ${id} = any(array(select key from batch where is_expired))
          for update skip locked))
        returning 1
      )
      select (select count(*) from deleted)::int as deleted, (
        select key::text from (select * from batch order by key desc limit 1) latest
        where (select count(*) from batch) = ${BATCH_SIZE} ${isChronological ? sql`and is_expired` : sql``}
      ) as next`,
    );
    return toBatch(row as BatchRow);
  };
}

export function pruneByIndex(table: string, primaryKey: string, isExpired: SQL): PruneBatch {
  const [from, id] = [sql.identifier(table), sql.identifier(primaryKey)];
  return async ({ db }) => {
    const { length: deleted } = await queryRows(
      db,
      sql`
      delete from ${from} where ${id} in (
        select ${id} from ${from} where ${isExpired} limit ${BATCH_SIZE} for update skip locked)
      returning 1`,
    );
    return { deleted, next: null, isLast: deleted < BATCH_SIZE };
  };
}
