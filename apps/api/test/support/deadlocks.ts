import { databaseErrorCode, SQLSTATE } from '@carillon/db';
import type { Context } from '../../src/context.ts';

/** The deadlocks that transactions of `ctx` ran into: they are run again, so that nobody would see them otherwise. */
export function watchDeadlocks(ctx: Context): unknown[] {
  const seen: unknown[] = [];
  const { db } = ctx;
  const transaction = db.transaction.bind(db);
  db.transaction = (...given) =>
    transaction(...given).catch((error: unknown) => {
      if (databaseErrorCode(error) === SQLSTATE.deadlock) seen.push(error);
      throw error;
    }) as never;
  return seen;
}
