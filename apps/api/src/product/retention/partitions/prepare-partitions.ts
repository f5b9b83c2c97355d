import type { Context } from '../../../context.ts';
import { changePartitions } from './change-partitions.ts';
import { prepareExecutionPartitions } from './execution-partitions.ts';
import { MONTHLY_TABLES, prepareMonths } from './month-partitions.ts';

/** Makes the partitions of this month and the next, unless they exist. */
export async function preparePartitions(ctx: Context): Promise<void> {
  await changePartitions(ctx, ({ db }) => prepareExecutionPartitions(db, ctx.now()));
  for (const table of MONTHLY_TABLES) {
    await changePartitions(ctx, ({ db }) => prepareMonths(db, table, ctx.now()));
  }
}
