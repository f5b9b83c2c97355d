import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import * as schema from './schema/index.ts';

/** The database, or a transaction of it: what every verb works on. */
export type Db = PostgresJsDatabase<typeof schema>;

export interface ConnectOptions {
  /** Connections at most; 10 unless told. */
  max?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName?: string;
}

/**
 * Opens a pool to `url`. Connections are made at the first query, so a database that is down is no error here.
 * The server itself ends statements after 20 s, lock waits after 10 s and idle transactions after 20 s.
 */
export function connect(url: string, { max = 10, applicationName = 'carillon' }: ConnectOptions = {}) {
  const client = postgres(url, {
    max,
    connect_timeout: 5,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      statement_timeout: 20_000,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 20_000,
    },
  });
  const db: Db = drizzle(client, { schema });
  return { db, close: () => client.end({ timeout: 5 }) };
}
