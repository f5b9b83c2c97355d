import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { listReadServers, listServers } from './database-url.ts';
import { openPostgres } from './open-postgres.ts';
import type { Run } from './pool/connection.ts';
import { ARRAY_PARSERS, createClient, createRun } from './pool/driver.ts';
import { createPool } from './pool/pool.ts';
import type { PrepareSetting } from './pool/pooling.ts';
import { createServers } from './pool/primary.ts';
import { createReplica, type Replica, type ReplicaOptions } from './replica/replica.ts';
import { createReplicaServer } from './replica/server.ts';

/** How long statements in use may take to end. */
const CLOSE_MS = 5000;

type Database = PostgresJsDatabase;

export interface Db extends Database {
  /** The same database, its statements sent over the pool's shared connection. Not in a transaction. */
  onSharedConnection?: Db;
  /** For reads that may be answered by standbys, if there are any. Not in a transaction. */
  replica?: Replica<Database>;
}

interface ConnectOptions {
  max?: number;
  applicationName?: string;
  /** Time limit of a statement, waiting for a connection included. Default: 4000. */
  deadlineMs?: number;
  /** Default: `auto`. */
  prepare?: PrepareSetting;
  /** Standbys of the database, by a URL that may list several. */
  replica?: ReplicaOptions & { url: string };
}

/** Opens a pool without connecting yet. Statements reject with `DatabaseUnavailable` at their deadline. */
export function connect(
  url: string,
  { max = 10, applicationName = 'carillon', deadlineMs = 4000, prepare = 'auto', replica }: ConnectOptions = {},
) {
  // Never connected: it parses the URL, and Drizzle adjusts its parsers and serializers.
  const [server] = listServers(url);
  const { options } = openPostgres(server, { max: 1 });
  Object.assign(options.parsers, ARRAY_PARSERS);
  const { parsers, serializers } = options;
  const settings = { maxConnections: max, applicationName, deadlineMs, prepare, parsers, serializers };
  const pool = createPool({ ...settings, servers: createServers(url) });
  const open = (run: Run): Database => {
    const client = { ...createClient(pool, deadlineMs, run), options };
    return drizzle(client as unknown as postgres.Sql);
  };
  const run = createRun(pool, deadlineMs);
  const db: Db = Object.assign(open(run), { onSharedConnection: open(createRun(pool, deadlineMs, { shared: true })) });
  if (!replica) return { db, poolState: pool.state, close: () => pool.close(CLOSE_MS) };
  const servers = listReadServers(replica.url).map((server) => createReplicaServer(server, settings));
  const { close, ...reads } = createReplica<Database>(servers, { db, run }, open, replica);
  for (const one of [db, db.onSharedConnection]) Object.assign(one as Db, { replica: reads });
  return {
    db,
    poolState: pool.state,
    close: async () => {
      await Promise.all([pool.close(CLOSE_MS), close(CLOSE_MS)]);
    },
  };
}
