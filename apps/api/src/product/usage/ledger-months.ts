import type { Db } from '@carillon/db';
import { listMonths } from '@carillon/db/partitions/months';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';

/** The first UTC month (`2026-11`) whose records in the usage ledger exist; null if none were deleted. */
export async function findFirstLedgerMonth(db: Db): Promise<string | null> {
  const [first] = await listMonths(db, { name: 'usage_records' });
  return first?.from ? toUtcMonth(toUtcDay(new Date(first.from))) : null;
}
