import { listPartitions } from '@carillon/db/partitions';
import type { Context } from '../../src/context.ts';
import { AUDIT_LOG } from '../../src/product/retention/partitions/month-partitions.ts';

/** The start of the first month that has a partition of its own in a new database, or of a later one. */
export async function findMonth(ctx: Context, monthsLater = 0): Promise<Date> {
  const partitions = await listPartitions(ctx.db, AUDIT_LOG);
  const start = new Date(partitions[1]?.from as string);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + monthsLater));
}
