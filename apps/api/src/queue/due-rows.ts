import type { Db } from '@carillon/db';
import { inArray, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/**
 * For an `update … returning` that claims rows: the CTE of up to `limit` due rows, without those that another process
 * is claiming, and the condition that a row is one of them.
 */
export function selectDueRows(
  db: Db,
  { id, where, orderBy, limit }: { id: PgColumn; where: SQL | undefined; orderBy: SQL[]; limit: number },
) {
  const due = db.$with('due').as(
    db
      .select({ id })
      .from(id.table)
      .where(where)
      .orderBy(...orderBy)
      .limit(limit)
      .for('update', { skipLocked: true }),
  );
  return { due, isClaimed: inArray(id, db.select({ id: due.id }).from(due)) };
}

export interface DrainOptions<T> {
  batchSize: number;
  stopping: AbortSignal;
  /** How long rows that are being worked on may go on once `stopping` has aborted. */
  graceMs: number;
  /** Claims up to `batchSize` rows. */
  claim(): Promise<T[]>;
  /** Works on one row until `signal` aborts. Returns whether it succeeded; a rejection ends the drain. */
  work(row: T, signal: AbortSignal): Promise<boolean>;
}

/**
 * Works on due rows, a batch at a time, until none is left, a whole batch has failed, or the process stops. Returns how
 * many succeeded.
 */
export async function drainDueRows<T>({ batchSize, stopping, graceMs, claim, work }: DrainOptions<T>): Promise<number> {
  const deadline = new AbortController();
  const startGrace = () => setTimeout(() => deadline.abort(), graceMs).unref();
  stopping.addEventListener('abort', startGrace, { once: true });
  let total = 0;
  try {
    while (!stopping.aborted) {
      const claimed = await claim();
      const results = await Promise.all(claimed.map((row) => work(row, deadline.signal)));
      const succeeded = results.filter(Boolean).length;
      total += succeeded;
      if (claimed.length < batchSize || succeeded === 0) break;
    }
  } finally {
    stopping.removeEventListener('abort', startGrace);
  }
  return total;
}
