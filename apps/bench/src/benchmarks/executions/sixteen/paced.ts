import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { setDue } from '../../../../../../test/system/users.ts';
import { waitForRuns } from '../../due-tasks.ts';
import { meanWaiting, startSampling } from './sampler.ts';

const PACES = { quick: { perSecond: 20, seconds: 2 }, full: { perSecond: 100, seconds: 20 } };
const LEAD_MS = 3000;
const TIMEOUT_MS = 60_000;

/** Runs a second that are due evenly; two cores start them without falling behind. */
export const PER_SECOND = PACES.full.perSecond;

/** Makes tasks due one after the other; returns how many statements wait for a lock meanwhile, on average. */
export async function measurePaced(db: Db, databaseUrl: string, { quick }: { quick: boolean }): Promise<number> {
  const { perSecond, seconds } = PACES[quick ? 'quick' : 'full'];
  const found = await queryRows<{ id: number }>(db, sql`select id from tasks order by id limit ${perSecond * seconds}`);
  await using sampling = new AsyncDisposableStack();
  const samples = startSampling(sampling, databaseUrl);
  const from = Date.now() + LEAD_MS;
  const to = from + (found.length / perSecond) * 1000;
  await setDue(db, new Date(from), { intervalMs: 1000 / perSecond, taskIds: found.map(({ id }) => id) });
  await delay(to - Date.now());
  await waitForRuns(db, { timeoutMs: TIMEOUT_MS, pollMs: 100 });
  return meanWaiting(samples.filter(({ at }) => at >= from && at <= to));
}
