import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { listServers } from './database-url.ts';
import { openPostgres } from './open-postgres.ts';
import { ARRAY_PARSERS } from './pool/array-parsers.ts';
import { createClient } from './pool/driver.ts';
import { createPool } from './pool/pool.ts';
import type { PrepareSetting } from './pool/pooling.ts';
import { createServers } from './pool/primary.ts';
import * as schema from './schema/index.ts';

type Database = PostgresJsDatabase<typeof schema>;

export interface Db extends Database {
  /** The same database, its statements sent over the pool's shared connection. Not in a transaction. */
  onSharedConnection?: Database;
}

export interface ConnectOptions {
  max?: number;
  applicationName?: string;
  /** Time limit of a statement, waiting for a connection included. Default: 4000. */
  deadlineMs?: number;
  /** Default: `auto`. */
  prepare?: PrepareSetting;
}

/** Opens a pool without connecting yet. Statements reject with `DatabaseUnavailable` at their deadline. */
export function connect(
  url: string,
  { max = 10, applicationName = 'carillon', deadlineMs = 4000, prepare = 'auto' }: ConnectOptions = {},
) {
  // Never connected: it parses the URL, and Drizzle adjusts its parsers and serializers.
  const [server] = listServers(url);
  const { options } = openPostgres(server, { max: 1 });
  Object.assign(options.parsers, ARRAY_PARSERS);
  const { parsers, serializers } = options;
  const pool = createPool({
    servers: createServers(url),
    maxConnections: max,
    applicationName,
    deadlineMs,
    prepare,
    parsers,
    serializers,
  });
  const open = (shared: boolean): Database => {
    const client = { ...createClient(pool, deadlineMs, { shared }), options };
    return drizzle(client as unknown as postgres.Sql, { schema });
  };
  const db: Db = Object.assign(open(false), { onSharedConnection: open(true) });
  return { db, poolState: pool.state, close: () => pool.close(5000) };
}
