import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import { databaseErrorCode, isNotReady, SQLSTATE } from '../errors.ts';
import { getDataFolder, openCluster, SUPERUSER } from './cluster.ts';
import {
  type Cluster,
  choosePort,
  findRunningPort,
  type Launch,
  launchServer,
  readLastLogLine,
  stopServer,
} from './postmaster.ts';
import { EmbeddedPostgresError } from './programs.ts';

export { EmbeddedPostgresError } from './programs.ts';

export interface EmbeddedPostgres {
  url: string;
  /** Ends the use of the server, and stops it unless another process uses it. Can be called repeatedly. */
  stop(): Promise<void>;
}

interface EmbeddedOptions {
  dataDir: string;
  /** False: a power cut may lose committed data. For tests. */
  durable?: boolean;
  /** Rejects, and creates nothing, unless another process runs the server. */
  mustRun?: boolean;
  onLog?: (line: string) => void;
}

type Session = postgres.Sql;

/** Held shared by every process that uses the server. The one that gets it exclusively is the last. */
const USERS_LOCK = ADVISORY_LOCKS.useEmbeddedServer;
const DATABASE = 'carillon';
const START_TIMEOUT_MS = 120_000;
/** The port was taken, a killed server is still ending, or another process started the server first. */
const RETRYABLE = /TCP\/IP sockets|still in use|already exists/;
const RETRY_DELAYS_MS = [100, 400, 1500];

/** Starts the server, or joins a running one. Rejects with an `EmbeddedPostgresError` if it cannot run. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, durable = true, mustRun = false, onLog = () => {} } = options;
  if (mustRun) await assertRunning(dataDir);
  const cluster = await openCluster(dataDir, durable);
  let stopping: Promise<void> | undefined;
  let current: Promise<{ session: Session; port: number }>;
  const onLost = () => {
    if (stopping) return;
    onLog('The embedded PostgreSQL has died; starting it again.');
    current = startOrJoin(cluster, onLost, onLog);
    current.catch((error: Error) => onLog(error.message));
  };
  current = startOrJoin(cluster, onLost, onLog);
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

async function assertRunning(dataDir: string): Promise<void> {
  const root = await realpath(dataDir).catch(() => dataDir);
  if ((await findRunningPort({ data: getDataFolder(root) })) !== null) return;
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL in ${dataDir} does not run: start Carillon first, with this DATA_DIR, or set DATABASE_URL.`,
  );
}

async function startOrJoin(cluster: Cluster, onLost: () => void, onLog: (line: string) => void) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let launch: Launch | null = null;
  let launches = 0;
  while (Date.now() < deadline) {
    const port = await findRunningPort(cluster);
    const session = port && (await join(cluster, port, onLost));
    if (session) {
      onLog(`The embedded PostgreSQL ${launch ? 'runs' : 'was running already'} at port ${port}.`);
      return { session, port };
    }
    if (port === null && (!launch || launch.hasEnded)) {
      if (launches > 0) {
        const delayMs = RETRY_DELAYS_MS[launches - 1];
        if (delayMs === undefined || !RETRYABLE.test(await readLastLogLine(cluster))) break;
        await sleep(delayMs);
        if ((await findRunningPort(cluster)) !== null) continue;
      }
      launch = await launchServer(cluster, await choosePort(cluster));
      launches++;
    }
    await sleep(10);
  }
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not start: ${await readLastLogLine(cluster)} (its log is ${cluster.home}/log).`,
  );
}

/** Opens the session that holds the users' lock; null while the server is not ready. */
async function join(cluster: Cluster, port: number, onLost: () => void): Promise<Session | null> {
  let hasJoined = false;
  const session = postgres({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
    max: 1,
    // The lock lives as long as the connection, which postgres.js replaces every hour by default.
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'carillon embedded' },
    onclose: () => {
      if (!hasJoined) return;
      hasJoined = false;
      session.end({ timeout: 0 }).catch(() => {});
      onLost();
    },
  });
  try {
    await session`select pg_advisory_lock_shared(${USERS_LOCK})`;
    hasJoined = true;
    return session;
  } catch (error) {
    await session.end({ timeout: 0 });
    if (isNotReady(error)) return null;
    throw new EmbeddedPostgresError(`The embedded PostgreSQL at port ${port}: ${(error as Error).message}`);
  }
}

async function leave(cluster: Cluster, session: Session, onLog: (line: string) => void): Promise<void> {
  let isLast = false;
  try {
    // Unlock first: of two processes that leave together, at least one then finds itself alone. Try repeatedly: the
    // server takes a moment to release the lock of a killed process.
    await session`select pg_advisory_unlock_shared(${USERS_LOCK})`;
    for (let attempt = 0; attempt < 20 && !isLast; attempt++) {
      if (attempt > 0) await sleep(15);
      const [answer] = await session`select pg_try_advisory_lock(${USERS_LOCK}) as "isLast"`;
      isLast = answer?.isLast;
    }
  } catch {
    onLog('The embedded PostgreSQL ended before it was stopped.');
  }
  // The session holds the lock until the server has stopped: a process that joins now waits, then starts the server again.
  if (isLast) await stopServer(cluster).finally(() => session.end({ timeout: 0 }));
  else await session.end({ timeout: 0 });
  onLog(isLast ? 'The embedded PostgreSQL has stopped.' : 'The embedded PostgreSQL keeps running for another process.');
}

async function createDatabase(session: Session): Promise<void> {
  const [existing] = await session`select from pg_database where datname = ${DATABASE}`;
  if (existing) return;
  await session.unsafe(`create database ${DATABASE}`).catch((error) => {
    // Another process may have created it meanwhile.
    const code = databaseErrorCode(error);
    if (code !== SQLSTATE.duplicateDatabase && code !== SQLSTATE.uniqueViolation) throw error;
  });
}
