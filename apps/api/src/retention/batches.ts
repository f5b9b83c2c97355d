import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';

/** Rows that one statement looks at and deletes at most: short statements, so that no request ever waits long for one. */
export const BATCH = 1000;

/** What a look at one piece of a table came to. */
export interface Look {
  deleted: number;
  /** The key behind which the next piece begins; null for the first one. */
  next: string | null;
  /** Whether no piece is left. */
  ended: boolean;
}

/** Looks at the piece behind a key, or at the first one. Any number of processes may do so at once. */
export type LookBehind = (ctx: Context, after: string | null) => Promise<Look>;

/** A look as a statement tells it, where `next` is null at the end. */
export type Piece = Pick<Look, 'deleted' | 'next'>;

export const lookOf = ({ deleted, next }: Piece): Look => ({ deleted, next, ended: next === null });

interface Table {
  name: string;
  /** Its primary key. */
  key: string;
  /** Whether a row may go: true for good, once it is. */
  isOver: SQL;
  /** Its keys grow with time: a piece that ends with a row that is not over is the last one. */
  inOrderOfTime?: boolean;
}

/**
 * Deletes what is over from a table piece by piece in the order of its key, so that it needs no index on time and a look
 * costs the same however much there is. Rows that somebody holds are left.
 */
export function lookThrough({ name, key, isOver, inOrderOfTime = false }: Table): LookBehind {
  const [table, id] = [sql.identifier(name), sql.identifier(key)];
  return async ({ db }, after) => {
    const [piece] = await queryRows<Piece>(
      db,
      sql`
      with piece as (
        select ${id} as key, ${isOver} as is_over from ${table} ${behind(id, after)} order by ${id} limit ${BATCH}
      ), gone as (
        delete from ${table} where ${id} = any(array(
          select ${id} from ${table} where ${id} = any(array(select key from piece where is_over)) for update skip locked))
        returning 1
      )
      select (select count(*) from gone)::int as deleted, (
        select key::text from (select * from piece order by key desc limit 1) latest
        where (select count(*) from piece) = ${BATCH} ${inOrderOfTime ? sql`and is_over` : sql``}
      ) as next`,
    );
    return lookOf(piece as Piece);
  };
}

type Column = ReturnType<typeof sql.identifier>;

/** The condition for the rows behind a key; none for the first piece. */
export const behind = (key: Column, after: string | null): SQL =>
  after === null ? sql`` : sql`where ${key} > ${after}`;
