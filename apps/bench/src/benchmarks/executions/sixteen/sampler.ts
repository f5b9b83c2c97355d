import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import { connectDatabase } from '../../../environment/installation.ts';
import { closeWith } from '../../../environment/shutdown.ts';

const SAMPLE_MS = 20;

/** What one snapshot of the database shows. */
export interface Sample {
  /** Milliseconds since 1970, by the database. */
  at: number;
  /** Claims that wait for the lock of all processes. */
  waiting: number;
  /** 1 while a claim holds it, else 0. */
  holding: number;
  /** Connections to the database without those of the benchmark. */
  connections: number;
  running: number;
  /** The most running executions of one user. */
  runningOfUser: number;
}

/**
 * Reads a sample every 20 ms until `stack` closes, and adds it to the returned list. The mean of `waiting` is the time
 * that claims wait, summed over the processes, as a part of the time sampled.
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

const SAMPLE = sql`
  with claims as (
    select count(*) filter (where not granted)::int as waiting, count(*) filter (where granted)::int as holding from pg_locks
    where locktype = 'advisory' and objid = ${ADVISORY_LOCKS.claimExecutions}
      and database = (select oid from pg_database where datname = current_database())
  ), users_running as (
    select count(*)::int as runs from executions where status = 'running' group by user_id
  )
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as at, waiting, holding,
    (select count(*)::int from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
      and application_name <> 'carillon bench') as connections,
    (select coalesce(sum(runs), 0)::int from users_running) as running,
    (select coalesce(max(runs), 0) from users_running) as running_of_user
  from claims`;
