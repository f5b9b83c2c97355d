import type { Connection, Run, Send } from '../pool/connection.ts';
import { createRun } from '../pool/driver.ts';
import { createPool, type PoolSettings } from '../pool/pool.ts';
import { createServers } from '../pool/primary.ts';

/** Which database a server has, and how far it has come. */
export interface ServerSample {
  /** Of its write-ahead log, in bytes: what a standby has replayed, what a primary has written. */
  logPosition: number;
  /** The same for a primary and its standbys. */
  cluster: string;
  database: string;
}

const LOG_POSITION = `pg_wal_lsn_diff(
  case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end, '0/0')::float8
  as log_position`;

const PROGRESS = `select ${LOG_POSITION}`;

/** Returns a `ServerSample`. */
export const SAMPLE = `select ${LOG_POSITION}, current_database() as database,
  (select system_identifier::text from pg_control_system()) as cluster`;

export async function readSample(run: Run): Promise<ServerSample> {
  const [sample] = await run((sql) => sql.unsafe<ServerSample[]>(SAMPLE));
  if (!sample) throw new Error('The statement returned no row.');
  return sample;
}

export interface ReplicaServer {
  /** Host and port. */
  name: string;
  /** Sends a statement behind one that reads the end of the log, which the answer therefore includes. */
  ask<T>(send: Send<T>): Promise<{ logPosition: number; answer: Promise<T> }>;
  sample(): Promise<ServerSample>;
  close(timeoutMs: number): Promise<void>;
}

type Settings = Omit<PoolSettings, 'servers'>;

/** A sample is given up after it: a live server needs a millisecond. */
const SAMPLE_DEADLINE_MS = 2000;

/** One server of `DATABASE_READ_URL`, or what a proxy at its address leads to. */
export function createReplicaServer(url: string, settings: Settings): ReplicaServer {
  const { deadlineMs } = settings;
  const pool = createPool({ ...settings, servers: createServers(url) });
  // Of its own, so that long statements do not let the server seem to be away.
  const samples = createPool({ ...settings, servers: createServers(url), maxConnections: 1 });
  const sampleRun = createRun(samples, SAMPLE_DEADLINE_MS);

  const readProgress: Send<{ logPosition: number }[]> = (sql, prepare) =>
    sql.unsafe<{ logPosition: number }[]>(PROGRESS, [], prepare(PROGRESS));

  return {
    name: new URL(url).host,
    async ask(send) {
      const until = performance.now() + deadlineMs;
      const askOn = (connection: Connection) => {
        const read = connection.run(readProgress, until);
        const answer = connection.run(send, until, () => pool.release(connection));
        // It is dropped if the server is behind.
        answer.catch(() => {});
        return read.then(([progress]) => ({ logPosition: progress?.logPosition ?? 0, answer }));
      };
      const connection = pool.tryAcquire({ shared: false });
      return connection ? askOn(connection) : pool.acquire(until, { exclusive: false }).then(askOn);
    },
    sample: () => readSample(sampleRun),
    async close(timeoutMs) {
      await Promise.all([pool.close(timeoutMs), samples.close(timeoutMs)]);
    },
  };
}
