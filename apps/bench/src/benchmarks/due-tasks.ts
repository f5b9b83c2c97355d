import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { setDue } from '../../../../test/system/users.ts';

/** The time between writing the due instant and the instant itself, which grows with the tasks. */
const BASE_LEAD_MS = 1500;
const MAX_LEAD_MS = 60_000;
const COMMIT_MARGIN_MS = 200;
const POLL_MS = 100;
const LEAD_TOO_SHORT = new Error('Writing the due instant takes longer than the lead time.');

export interface RunTimes {
  due: Date;
  /** Milliseconds from the due instant to the last start and the last completion. */
  lastStartMs: number;
  lastCompletionMs: number;
}

/** Keeps dead rows and unwritten pages of one round out of the next one. */
export async function vacuumAndCheckpoint(db: Db): Promise<void> {
  await db.execute(sql`vacuum analyze`);
  await db.execute(sql`checkpoint`);
}

/** Makes all tasks due in `leadMs`, `intervalMs` apart, and returns the first instant. Retries with a longer lead. */
export async function scheduleAll(
  db: Db,
  { leadMs, intervalMs = 0 }: { leadMs: number; intervalMs?: number },
): Promise<Date> {
  for (let lead = leadMs; ; lead *= 2) {
    const first = new Date(Date.now() + lead);
    try {
      await db.transaction(async (tx) => {
        await setDue(tx, first, { intervalMs });
        if (Date.now() > first.getTime() - COMMIT_MARGIN_MS) throw LEAD_TOO_SHORT;
      });
      return first;
    } catch (error) {
      if (error !== LEAD_TOO_SHORT || lead > MAX_LEAD_MS) throw error;
    }
  }
}

/** Reads partial indexes: a count of the executions at each poll would take from what is measured. */
async function isAnyLeft(db: Db): Promise<boolean> {
  const [row] = await queryRows<{ left: boolean }>(
    db,
    sql`select exists (select from tasks where status = 'active' and next_execution_at <= now())
      or exists (select from executions where status in ('pending', 'running')) as left`,
  );
  return row?.left ?? false;
}

/** Waits until no task is due and no execution is left. Throws after `timeoutMs`. */
export async function waitForRuns(db: Db, { timeoutMs, pollMs }: { timeoutMs: number; pollMs: number }): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (await isAnyLeft(db)) {
    if (performance.now() > deadline) throw new Error('The runs were not completed in time.');
    await delay(pollMs);
  }
}

/** Makes all tasks due at the same instant and waits until their executions are completed. */
export async function runAllDue(db: Db, { count, timeoutMs }: { count: number; timeoutMs: number }): Promise<RunTimes> {
  await vacuumAndCheckpoint(db);
  const due = await scheduleAll(db, { leadMs: BASE_LEAD_MS + count / 5 });
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    await delay(POLL_MS);
    if ((await isAnyLeft(db)) && performance.now() <= deadline) continue;
    const [row] = await queryRows<{ completed: number; failed: number; lastStart: number; lastCompletion: number }>(
      db,
      sql`
      select count(*) filter (where status = 'completed')::int as completed,
        count(*) filter (where status = 'failed')::int as failed,
        (extract(epoch from max(started_at) - ${due.toISOString()}::timestamptz) * 1000)::float8 as "lastStart",
        (extract(epoch from max(completed_at) - ${due.toISOString()}::timestamptz) * 1000)::float8 as "lastCompletion"
      from executions where planned_for = ${due.toISOString()}::timestamptz`,
    );
    if (row?.failed) throw new Error(`${row.failed} executions failed.`);
    if (row?.completed === count) return { due, lastStartMs: row.lastStart, lastCompletionMs: row.lastCompletion };
    if (performance.now() > deadline) throw new Error(`Only ${row?.completed} of ${count} executions were completed.`);
  }
}
