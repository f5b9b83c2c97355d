import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { setDue } from '../environment/users.ts';

/** Between the writing of an instant and the instant itself; more for many tasks. */
const BASE_LEAD_MS = 1500;
const MAX_LEAD_MS = 60_000;
/** What the commit may take. */
const COMMIT_MARGIN_MS = 200;
const POLL_MS = 100;
const TOO_LATE = new Error('Making the tasks due takes longer than the time until they are.');

export interface RunTimes {
  /** Milliseconds from the instant at which all were due until the last one had started, and had ended. */
  lastStartMs: number;
  lastEndMs: number;
}

/** What the round before has left dead, or has still to write, must not weigh on the next one. */
export async function vacuumAndCheckpoint(db: Db): Promise<void> {
  await db.execute(sql`vacuum analyze`);
  await db.execute(sql`checkpoint`);
}

/**
 * Lets all tasks fall due `leadMs` from now on, or `apartMs` after each other from then, and returns the first instant.
 * Where writing that takes longer, the instant is put off rather than missed.
 */
export async function scheduleAll(
  db: Db,
  { leadMs, apartMs = 0 }: { leadMs: number; apartMs?: number },
): Promise<Date> {
  for (let lead = leadMs; ; lead *= 2) {
    const first = new Date(Date.now() + lead);
    try {
      await db.transaction(async (tx) => {
        await setDue(tx, first, { apartMs });
        if (Date.now() > first.getTime() - COMMIT_MARGIN_MS) throw TOO_LATE;
      });
      return first;
    } catch (error) {
      if (error !== TOO_LATE || lead > MAX_LEAD_MS) throw error;
    }
  }
}

/** Lets all tasks fall due at one instant, and waits until each has run once for it. */
export async function runAllDue(
  db: Db,
  { count, patienceMs }: { count: number; patienceMs: number },
): Promise<RunTimes> {
  await vacuumAndCheckpoint(db);
  const due = await scheduleAll(db, { leadMs: BASE_LEAD_MS + count / 5 });
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await delay(POLL_MS);
    const [row] = await queryRows<{ completed: number; failed: number; lastStart: number; lastEnd: number }>(
      db,
      sql`
      select count(*) filter (where status = 'completed')::int as completed,
        count(*) filter (where status = 'failed')::int as failed,
        (extract(epoch from max(started_at) - ${due.toISOString()}::timestamptz) * 1000)::float8 as "lastStart",
        (extract(epoch from max(completed_at) - ${due.toISOString()}::timestamptz) * 1000)::float8 as "lastEnd"
      from executions where planned_for = ${due.toISOString()}::timestamptz`,
    );
    if (row?.failed) throw new Error(`${row.failed} executions failed.`);
    if (row?.completed === count) return { lastStartMs: row.lastStart, lastEndMs: row.lastEnd };
    if (performance.now() > deadline) throw new Error(`Only ${row?.completed} of ${count} executions were completed.`);
  }
}
