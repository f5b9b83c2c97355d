import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Installation } from '../../environment/installation.ts';
import { median } from '../../statistics.ts';

/** The tasks that are due at each tick. */
export const DUE = 100;
const TIMEOUT_MS = 60_000;

/** Returns a function that measures the median duration of a call of the scheduler trigger, in milliseconds. */
export function prepareTicks(
  { db, apiUrl, cronSecret }: Pick<Installation, 'db' | 'apiUrl' | 'cronSecret'>,
  ticks: number,
) {
  let next = 0;
  return async (): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n <= ticks; n++) {
      next = await makeSomeDue(db, next);
      times.push(await callTrigger(apiUrl, cronSecret));
      await waitForCompletion(db);
    }
    // The first tick of a round meets an idle process.
    return median(times.slice(1));
  };
}

/** Makes tasks due that are spread over the table. Returns the start of the next call. */
async function makeSomeDue(db: Db, from: number): Promise<number> {
  const [row] = await queryRows<{ maxId: number }>(db, sql`select max(id)::int as "maxId" from tasks`);
  const step = Math.floor((row?.maxId ?? 0) / DUE);
  const first = from % step;
  await db.execute(sql`
    update tasks set next_execution_at = now() where id in (
      select ${first}::int + n * ${step}::int + 1 from generate_series(0, ${DUE - 1}::int) n)`);
  return first + 1;
}

async function callTrigger(apiUrl: string, cronSecret: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${apiUrl}/api/cron/scheduler`, {
    headers: { authorization: `Bearer ${cronSecret}`, prefer: 'respond-async' },
  });
  const { processed } = (await response.json()) as { processed: number };
  const ms = performance.now() - startedAt;
  if (processed !== DUE) throw new Error(`The tick enqueued ${processed} of ${DUE} tasks.`);
  return ms;
}

async function waitForCompletion(db: Db) {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const [row] = await queryRows<{ pending: boolean }>(
      db,
      sql`select exists (select from executions_live where status in ('pending', 'running')) as pending`,
    );
    if (!row?.pending) return delay(20);
    if (performance.now() > deadline) throw new Error('The executions of a tick were not completed in time.');
    await delay(20);
  }
}
