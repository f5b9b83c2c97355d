import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findStablePort } from '../../../environment/ports.ts';
import { type RunningProcess, startProcess } from '../../../environment/processes.ts';
import { closeWith } from '../../../environment/shutdown.ts';

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
/** Patroni removes a primary that has not renewed its lease for `ttl` seconds. */
const TIMING = { ttl: 20, loop_wait: 2, retry_timeout: 5, master_start_timeout: 0 };

/** A server of the cluster: PostgreSQL and the Patroni that supervises it. */
export interface ClusterNode {
  name: string;
  port: number;
  restPort: number;
  start(): Promise<void>;
  /** Sends a signal to Patroni, PostgreSQL and all its processes, as if it happened to the machine. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export interface NodeOptions {
  folder: string;
  name: string;
  etcdPort: number;
  password: string;
}

/** The folder of the newest PostgreSQL that Debian has installed, or null. */
export function findPostgresPrograms(): string | null {
  let versions: string[] = [];
  try {
    versions = readdirSync(POSTGRES_VERSIONS);
  } catch {
    return null;
  }
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0];
  return newest === undefined ? null : join(POSTGRES_VERSIONS, String(newest), 'bin');
}

/** Prepares a node without starting it. Stops with `stack`. */
export async function prepareNode(stack: AsyncDisposableStack, options: NodeOptions): Promise<ClusterNode> {
  const { folder, name, etcdPort, password } = options;
  const [port, restPort] = [await findStablePort(), await findStablePort()];
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  const account = findAccount();
  const configuration = join(home, 'patroni.json');
  writeFileSync(configuration, JSON.stringify(buildConfiguration({ name, home, port, restPort, etcdPort, password })));
  if (account) for (const path of [home, configuration]) chownSync(path, account.uid, account.gid);
  const command: [string, ...string[]] = account
    ? ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', 'patroni', configuration]
    : ['patroni', configuration];
  let patroni: RunningProcess | undefined;

  const readPostmaster = (): number | null => {
    try {
      return Number(readFileSync(join(home, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
    } catch {
      return null;
    }
  };
  const signal = (signalName: NodeJS.Signals) => {
    const postmaster = readPostmaster();
    const pids = [patroni?.pid, postmaster, ...(postmaster === null ? [] : listChildren(postmaster))];
    // A stopped parent must not restart a child that is killed after it.
    for (const pid of pids) if (pid) sendSignal(pid, signalName);
  };
  // Closed after the process itself, which usually stops PostgreSQL.
  closeWith(stack, async () => {
    const postmaster = readPostmaster();
    if (postmaster) sendSignal(postmaster, 'SIGQUIT');
  });

  return {
    name,
    port,
    restPort,
    signal,
    async start() {
      patroni = await startProcess(stack, {
        name,
        file: command,
        folder,
        env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: home },
        ready: /no action\. (I am)/,
      });
    },
  };
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const listChildren = (pid: number): number[] =>
  spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean)
    .map(Number);

/** PostgreSQL refuses to run as root. Null for the current user. */
function findAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

interface Configuration {
  name: string;
  home: string;
  port: number;
  restPort: number;
  etcdPort: number;
  password: string;
}

/** As in `docs/operating/failover.md`, with several nodes on one machine. */
function buildConfiguration({ name, home, port, restPort, etcdPort, password }: Configuration) {
  const user = (username: string) => ({ username, password });
  return {
    scope: 'carillon',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...TIMING,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, wal_keep_size: '512MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(home, 'data'),
      bin_dir: findPostgresPrograms(),
      pgpass: join(home, 'pgpass'),
      authentication: { superuser: user('postgres'), replication: user('replicator'), rewind: user('rewind') },
      parameters: { unix_socket_directories: home, timezone: 'UTC', log_timezone: 'UTC' },
      pg_hba: [
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
        'local all all trust',
      ],
    },
    watchdog: { mode: 'off' },
  };
}

/** Polls until `condition` is true. */
export async function waitUntil(condition: () => Promise<boolean>, what: string, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`After ${timeoutMs / 1000} s, ${what}.`);
    await delay(50);
  }
}
