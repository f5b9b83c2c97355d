import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chown, link, open, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Account, EmbeddedPostgresError, type Programs, run, SERVER_ENVIRONMENT } from './programs.ts';

export interface Cluster {
  home: string;
  data: string;
  password: string;
  programs: Programs;
  account: Account;
  /** False: a power cut may lose committed data. */
  durable: boolean;
}

export interface Launch {
  hasEnded: boolean;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A socket's path is limited to about 100 characters, which a data folder may exceed.
  unix_socket_directories: '',
  cluster_name: 'carillon',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // Failed statements are not logged: they contain user data, and the caller reports them.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};
const DURABLE = { max_connections: '200', fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
const NOT_DURABLE = { max_connections: '1000', fsync: 'off', full_page_writes: 'off' };

/** Starts the server in its own session, which Ctrl-C does not reach. Returns before the server is ready. */
export async function launchServer(cluster: Cluster, port: number): Promise<Launch> {
  const path = join(cluster.home, 'log');
  await rename(path, `${path}.previous`).catch(() => {});
  const log = await open(path, 'a', 0o600);
  try {
    // The owner of the cluster may start the server next time, without root.
    if (cluster.account) await log.chown(cluster.account.uid, cluster.account.gid);
    const settings = { ...SETTINGS, ...(cluster.durable ? DURABLE : NOT_DURABLE), port: String(port) };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(cluster.programs.postgres, ['-D', cluster.data, ...args], {
      ...cluster.account,
      cwd: '/',
      env: SERVER_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    const launch = { hasEnded: false };
    const end = () => {
      launch.hasEnded = true;
    };
    server.once('exit', end).once('error', end).unref();
    return launch;
  } finally {
    await log.close();
  }
}

/** The last fatal message in the server's log, else the last line. */
export async function readLastLogLine(cluster: Cluster): Promise<string> {
  const log = await readFile(join(cluster.home, 'log'), 'utf8').catch(() => '');
  const lines = log.trim().split('\n');
  return (lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? '').replace(/^.*?FATAL:\s*/, '');
}

export async function stopServer({ programs, data, account }: Cluster): Promise<void> {
  await run(programs.pg_ctl, ['stop', '-D', data, '-m', 'fast', '-w', '-t', '60', '-s'], account);
}

export async function findRunningPort(cluster: Pick<Cluster, 'data'>): Promise<number | null> {
  const path = join(cluster.data, 'postmaster.pid');
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  const pid = Number.parseInt(text, 10);
  if (!pid) await removeBrokenLock(cluster, path);
  const port = Number(text.split('\n')[3]);
  if (!pid || !port || !isAlive(pid)) return null;
  if ((await readCommandLine(pid)).includes(cluster.data)) return port;
  // Another program has the pid of a dead server, as happens when a container restarts, and PostgreSQL would take it for
  // a running server. With an impossible pid PostgreSQL checks its shared memory instead. The file is read again because
  // another process may have started a server meanwhile.
  if (readFileSync(path, 'utf8') === text) writeFileSync(path, text.replace(/^\d+/, '2147483647'));
  return null;
}

/** Beside a lock file without a pid, such as a power cut may leave, PostgreSQL does not start. */
async function removeBrokenLock(cluster: Pick<Cluster, 'data'>, path: string): Promise<void> {
  // A server that is starting has created the file and not yet written it.
  if (await isInUse(cluster)) return;
  const removed = `${path}.broken`;
  await rename(path, removed).catch(() => {});
  // One that started meanwhile gets its file back.
  if (await isInUse(cluster)) await link(removed, path).catch(() => {});
  await rm(removed, { force: true });
}

/** Whether a process of PostgreSQL, be it one that outlived its server, works in the folder of the cluster. */
async function isInUse({ data }: Pick<Cluster, 'data'>): Promise<boolean> {
  if (process.platform !== 'linux') {
    const lines = await run('ps', ['-axww', '-o', 'command='], null);
    return lines.split('\n').some((line) => line.includes('postgres') && line.includes(data));
  }
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (name.trim() !== 'postgres') continue;
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (folder === data || (await readCommandLine(Number(pid))).includes(data)) return true;
  }
  return false;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)], null).catch(() => '');
}

/** The port of the last start, so that the URL stays the same; another one if that is taken. */
export async function choosePort(cluster: Cluster): Promise<number> {
  const path = join(cluster.home, 'port');
  const last = Number(await readFile(path, 'utf8').catch(() => 0));
  const port = (last && (await probePort(last))) || (await probePort(0));
  if (!port) throw new EmbeddedPostgresError('No port is free at 127.0.0.1 for the embedded PostgreSQL.');
  if (port !== last) {
    await writeFile(path, String(port), { mode: 0o600 });
    if (cluster.account) await chown(path, cluster.account.uid, cluster.account.gid);
  }
  return port;
}

/** Resolves to `wanted`, or for 0 to any free port; null if it is taken. */
function probePort(wanted: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen({ host: '127.0.0.1', port: wanted, exclusive: true }, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
