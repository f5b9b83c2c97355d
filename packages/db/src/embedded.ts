import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { type Cluster, openCluster, SUPERUSER } from './embedded/cluster.ts';
import { choosePort, type Launch, lastWords, launchServer, runningPort, stopServer } from './embedded/postmaster.ts';
import { EmbeddedPostgresError } from './embedded/programs.ts';
import { databaseErrorCode, isNotReady, SQLSTATE } from './errors.ts';

export { EmbeddedPostgresError } from './embedded/programs.ts';

export interface EmbeddedPostgres {
  url: string;
  /** Leaves the server, and stops it when no other process uses it. Can be called again. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** The cluster lives in its folder `postgres`. */
  dataDir: string;
  /** False lets a power cut cost committed data: for tests only. */
  durable?: boolean;
  /** Told in a line each what happens to the server. */
  onLog?: (line: string) => void;
}

type Session = postgres.Sql;

/**
 * Every process that uses the server holds this advisory lock, shared, for as long as it lives; PostgreSQL releases
 * the lock of a killed one. The process that gets it exclusively is the last, and may stop the server.
 */
const USERS_LOCK = ADVISORY_LOCKS.useEmbeddedServer;
const DATABASE = 'carillon';
const START_MS = 120_000;
/**
 * Last words of a server after which another try may do: its port was taken, the last processes of a killed one are
 * still going, or another process was faster.
 */
const PASSING = /TCP\/IP sockets|still in use|already exists/;
const RETRY_MS = [100, 400, 1500];

/**
 * Starts the PostgreSQL that is embedded in `dataDir`, creating it the first time (decisions §1), and resolves when
 * it answers. One that already runs there, shared by a living process or left behind by a killed one, is used as it
 * is. Rejects with an `EmbeddedPostgresError` of one line where it cannot run.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, durable = true, onLog = () => {} } = options;
  const cluster = await openCluster(dataDir, durable);
  let stopping: Promise<void> | undefined;
  let current: Promise<{ session: Session; port: number }>;
  const onLost = () => {
    if (stopping) return;
    onLog('The embedded PostgreSQL has died; starting it again.');
    current = attach(cluster, onLost, onLog);
    current.catch((error: Error) => onLog(error.message));
  };
  current = attach(cluster, onLost, onLog);
  const { session, port } = await current;
  const stop = () => {
    stopping ??= current.then(
      ({ session }) => leave(cluster, session, onLog),
      () => {},
    );
    return stopping;
  };
  await createDatabase(session).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url: `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${DATABASE}`, stop };
}

async function attach(cluster: Cluster, onLost: () => void, onLog: (line: string) => void) {
  const deadline = Date.now() + START_MS;
  let launch: Launch | null = null;
  let launches = 0;
  while (Date.now() < deadline) {
    const port = await runningPort(cluster);
    const session = port && (await join(cluster, port, onLost));
    if (session) {
      onLog(`The embedded PostgreSQL ${launch ? 'runs' : 'was running already'} at port ${port}.`);
      return { session, port };
    }
    if (port === null && (!launch || launch.ended)) {
      if (launches > 0) {
        const wait = RETRY_MS[launches - 1];
        if (wait === undefined || !PASSING.test(await lastWords(cluster))) break;
        await sleep(wait);
        if ((await runningPort(cluster)) !== null) continue;
      }
      launch = await launchServer(cluster, await choosePort(cluster));
      launches++;
    }
    await sleep(10);
  }
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not start: ${await lastWords(cluster)} (its log is ${cluster.home}/log).`,
  );
}

/** Opens the session that holds the users' lock; null while the server is not ready. */
async function join(cluster: Cluster, port: number, onLost: () => void): Promise<Session | null> {
  let joined = false;
  const session = postgres({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
    max: 1,
    // The lock lives as long as the connection, which postgres.js would otherwise replace every hour.
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'carillon embedded' },
    onclose: () => {
      if (!joined) return;
      joined = false;
      session.end({ timeout: 0 }).catch(() => {});
      onLost();
    },
  });
  try {
    await session`select pg_advisory_lock_shared(${USERS_LOCK})`;
    joined = true;
    return session;
  } catch (error) {
    await session.end({ timeout: 0 });
    if (isNotReady(error)) return null;
    throw new EmbeddedPostgresError(`The embedded PostgreSQL at port ${port}: ${(error as Error).message}`);
  }
}

async function leave(cluster: Cluster, session: Session, onLog: (line: string) => void): Promise<void> {
  let last = false;
  try {
    // In this order, so that of two that leave together one at least finds itself alone. Looked at more than once:
    // the server takes a moment to notice that another user was killed, and to let its lock go.
    await session`select pg_advisory_unlock_shared(${USERS_LOCK})`;
    for (let look = 0; look < 20 && !last; look++) {
      if (look > 0) await sleep(15);
      const [answer] = await session`select pg_try_advisory_lock(${USERS_LOCK}) as last`;
      last = answer?.last;
    }
  } catch {
    onLog('The embedded PostgreSQL was gone before it was stopped.');
  }
  // The session stays open meanwhile: whoever comes now waits for the lock and then starts the server anew.
  if (last) await stopServer(cluster).finally(() => session.end({ timeout: 0 }));
  else await session.end({ timeout: 0 });
  onLog(last ? 'The embedded PostgreSQL has stopped.' : 'The embedded PostgreSQL goes on for another process.');
}

async function createDatabase(session: Session): Promise<void> {
  const [existing] = await session`select from pg_database where datname = ${DATABASE}`;
  if (existing) return;
  await session.unsafe(`create database ${DATABASE}`).catch((error) => {
    // Another process that started at the same moment has created it.
    const code = databaseErrorCode(error);
    if (code !== SQLSTATE.duplicateDatabase && code !== SQLSTATE.uniqueViolation) throw error;
  });
}
