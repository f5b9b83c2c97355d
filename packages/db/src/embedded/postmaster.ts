import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chown, open, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { EmbeddedPostgresError, run, SERVER_ENVIRONMENT } from './programs.ts';

/** A server that has begun to start and does not belong to this process any more. */
export interface Launch {
  /** True once it has ended, which it does at once when it cannot start. */
  ended: boolean;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A socket file would fail in folders with long names, and one way in is enough.
  unix_socket_directories: '',
  cluster_name: 'carillon',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // The log is for what happens to the server. Failed statements are the caller's to report, and hold people's data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};
const DURABLE = { max_connections: '200', fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
const FLEETING = { max_connections: '1000', fsync: 'off', full_page_writes: 'off' };

/**
 * Starts the server in a session of its own, so that the Ctrl-C of a terminal does not reach it. It goes on when this
 * process dies. Returns before it is ready.
 */
export async function launchServer(cluster: Cluster, port: number): Promise<Launch> {
  const path = join(cluster.home, 'log');
  await rename(path, `${path}.previous`).catch(() => {});
  const log = await open(path, 'a', 0o600);
  try {
    // Whoever owns the cluster may be the next to start it.
    if (cluster.account) await log.chown(cluster.account.uid, cluster.account.gid);
    const settings = { ...SETTINGS, ...(cluster.durable ? DURABLE : FLEETING), port: String(port) };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(cluster.programs.postgres, ['-D', cluster.data, ...args], {
      ...cluster.account,
      cwd: '/',
      env: SERVER_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    const launch = { ended: false };
    const end = () => {
      launch.ended = true;
    };
    server.once('exit', end).once('error', end).unref();
    return launch;
  } finally {
    await log.close();
  }
}

/** What the server said last, for the error that reports that it does not start. */
export async function lastWords(cluster: Cluster): Promise<string> {
  const log = await readFile(join(cluster.home, 'log'), 'utf8').catch(() => '');
  const lines = log.trim().split('\n');
  return (lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? '').replace(/^.*?FATAL:\s*/, '');
}

/** Stops the server: open transactions are rolled back, everything committed is on disk. */
export async function stopServer({ programs, data, account }: Cluster): Promise<void> {
  await run(programs.pg_ctl, ['stop', '-D', data, '-m', 'fast', '-w', '-t', '60', '-s'], account);
}

/** The port of the server that runs on this cluster, or null when none does. */
export async function runningPort(cluster: Cluster): Promise<number | null> {
  const path = join(cluster.data, 'postmaster.pid');
  const text = await readFile(path, 'utf8').catch(() => '');
  const [pid = '', , , port = ''] = text.split('\n');
  if (!Number(pid) || !Number(port) || !isAlive(Number(pid))) return null;
  if ((await commandOf(Number(pid))).includes(cluster.data)) return Number(port);
  // The pid of a dead server has gone to another program, as it does when a container restarts, and PostgreSQL would
  // take that for a running server. A pid that no system gives makes it look at its shared memory instead.
  // Read again at the last moment: another process may have started a server meanwhile.
  if (readFileSync(path, 'utf8') === text) writeFileSync(path, text.replace(/^\d+/, '2147483647'));
  return null;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)], null).catch(() => '');
}

/** The port of the last start, so that addresses noted down stay right; another one when it is taken by now. */
export async function choosePort(cluster: Cluster): Promise<number> {
  const path = join(cluster.home, 'port');
  const last = Number(await readFile(path, 'utf8').catch(() => 0));
  const port = (last && (await freePort(last))) || (await freePort(0));
  if (!port) throw new EmbeddedPostgresError('No port is free at 127.0.0.1 for the embedded PostgreSQL.');
  if (port !== last) {
    await writeFile(path, String(port), { mode: 0o600 });
    if (cluster.account) await chown(path, cluster.account.uid, cluster.account.gid);
  }
  return port;
}

function freePort(wanted: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen({ host: '127.0.0.1', port: wanted, exclusive: true }, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
