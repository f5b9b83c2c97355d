import type { Db } from '@carillon/db';
import { inArray, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** For an `update` that claims rows: the CTE of due rows that no other process is claiming, and the condition. */
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
  graceMs: number;
  claim(): Promise<T[]>;
  /** Returns whether it succeeded. Aborted `graceMs` after `stopping`. */
  work(row: T, signal: AbortSignal): Promise<boolean>;
}

/** Works on batches of due rows until none is left, a batch fails or the process stops. Returns how many succeeded. */
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
