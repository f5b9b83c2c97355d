import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { closeWith } from '../../../../../../test/system/shutdown.ts';
import { connectDatabase } from '../../../environment/installation.ts';

const SAMPLE_MS = 20;

/** What one snapshot of the database shows. */
export interface Sample {
  /** Milliseconds since 1970, by the database. */
  at: number;
  /** Statements that wait for a lock of another transaction, whatever it locks. */
  waiting: number;
  /** Connections to the database without those of the benchmark. */
  connections: number;
  running: number;
  /** The most running executions of one user. */
  runningOfUser: number;
}

/**
 * Reads a sample every 20 ms until `stack` closes, and adds it to the returned list. The mean of `waiting` is the time
 * that statements wait, summed over the processes, as a part of the time sampled.
 */
export function startSampling(stack: AsyncDisposableStack, databaseUrl: string): readonly Sample[] {
  const db = connectDatabase(stack, databaseUrl);
  const samples: Sample[] = [];
  let isStopped = false;
  const sampling = (async () => {
    while (!isStopped) {
      const [sample] = await queryRows<Sample>(db, SAMPLE);
      if (sample) samples.push(sample);
      await delay(SAMPLE_MS);
    }
  })();
  sampling.catch(() => {});
  closeWith(stack, async () => {
    isStopped = true;
    await sampling;
  });
  return samples;
}

/** How many statements wait at any time, which is more than the processes if two of each wait. */
export const meanWaiting = (samples: readonly Sample[]): number =>
  samples.reduce((sum, { waiting }) => sum + waiting, 0) / samples.length;

const SAMPLE = sql`
  with clients as (
    select wait_event_type from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name <> 'carillon bench'
  ), users_running as (
    select count(*)::int as runs from executions where status = 'running' group by user_id
  )
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as at,
    (select count(*)::int from clients where wait_event_type = 'Lock') as waiting,
    (select count(*)::int from clients) as connections,
    (select coalesce(sum(runs), 0)::int from users_running) as running,
    (select coalesce(max(runs), 0) from users_running) as running_of_user`;
