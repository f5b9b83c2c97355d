import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { ARRAY_PARSERS } from './arrays.ts';
import { createDriver } from './driver.ts';
import { createPool } from './pool.ts';
import * as schema from './schema/index.ts';

/** The database, or a transaction of it: what every verb works on. */
export type Db = PostgresJsDatabase<typeof schema>;

export interface ConnectOptions {
  /** Connections at most; 10 unless told. */
  max?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName?: string;
  /**
   * How long a statement may take, waiting for a connection included; 4 s unless told, so that a request is refused
   * within 5 s of the database freezing. For work that takes longer by design, open a small pool of its own.
   */
  deadlineMs?: number;
}

/**
 * Opens a pool to `url`. Connections are made when they are needed, so a database that is down is no error here.
 * A statement that gets no answer within its deadline rejects with a `DatabaseUnavailable`, whatever became of the server, and
 * its connection is replaced; a server that is alive ends slow statements and lock waits by itself a little earlier (3.5 s
 * and 3 s), and idle transactions after 20 s.
 */
export function connect(
  url: string,
  { max = 10, applicationName = 'carillon', deadlineMs = 4000 }: ConnectOptions = {},
) {
  // Never connected: it reads the address, and drizzle tells it how values are written and read.
  const { options } = postgres(url, { max: 1 });
  Object.assign(options.parsers, ARRAY_PARSERS);
  const { parsers, serializers } = options;
  const pool = createPool({ url, max, applicationName, deadlineMs, parsers, serializers });
  const client = { ...createDriver(pool, deadlineMs), options };
  const db: Db = drizzle(client as unknown as postgres.Sql, { schema });
  return { db, poolState: pool.state, close: () => pool.close(5000) };
}
