import type { Db } from '@carillon/db';
import { inArray, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** Returns the CTE of unlocked due rows and the condition of an `update` that claims them. */
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

interface DrainOptions<T> {
  batchSize: number;
  stopping: AbortSignal;
  graceMs: number;
  claim(): Promise<T[]>;
  /** Returns success. Aborted `graceMs` after `stopping`. */
  work(row: T, signal: AbortSignal): Promise<boolean>;
}

/** Stops without rows, after a failed batch or at shutdown. Returns the successes. */
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
