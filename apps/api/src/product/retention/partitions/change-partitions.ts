import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { inTransaction } from '../../../transaction.ts';
import { prepareExecutionPartitions } from './execution-partitions.ts';
import { MONTHLY_TABLES, prepareMonths } from './month-partitions.ts';

/**
 * Changes partitions in a transaction, one process at a time. Does nothing if readers keep a table locked: the caller tries
 * again later.
 */
export async function changePartitions(ctx: Context, change: (tx: Context) => Promise<void>): Promise<void> {
  try {
    await inTransaction(ctx, async (tx) => {
      await tx.db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.changePartitions})`);
      await change(tx);
    });
  } catch (error) {
    if (databaseErrorCode(error) !== SQLSTATE.lockNotAvailable) throw error;
    ctx.log.info('a table is in use: its partitions are changed later');
  }
}

/** Makes the partitions of this month and the next, unless they exist. */
export async function preparePartitions(ctx: Context): Promise<void> {
  await changePartitions(ctx, ({ db }) => prepareExecutionPartitions(db, ctx.now()));
  for (const table of MONTHLY_TABLES) {
    await changePartitions(ctx, ({ db }) => prepareMonths(db, table, ctx.now()));
  }
}
