import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';

/** With the folders of Debian's PgBouncer. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
/** Another version can be tested by its path. */
const PROGRAM = process.env.PGBOUNCER || 'pgbouncer';
const START_MS = 10_000;

const { status, stdout } = spawnSync(PROGRAM, ['--version'], { env: { PATH }, encoding: 'utf8' });
const isInstalled = status === 0;
if (!isInstalled && process.env.REQUIRE_PROGRAMS)
  throw new Error('REQUIRE_PROGRAMS is set, but there is no pgbouncer on the path.');
/** The reason to skip a test, or false. */
export const skipWithoutPgBouncer = isInstalled ? false : 'needs PgBouncer (apt-get install pgbouncer)';

const [, minor = ''] = /^PgBouncer 1\.(\d+)/.exec(stdout ?? '') ?? [];
/** The reason to skip a test of prepared statements in transaction mode, or false. */
export const skipBeforePgBouncer121 = Number(minor) >= 21 ? false : 'needs PgBouncer 1.21 or newer';

interface PgBouncerOptions {
  mode: 'session' | 'transaction';
  /** Connections to the server. Default: 5. */
  poolSize?: number;
  /** From version 1.21, in transaction mode: prepared statements are kept. Default: false. */
  keepsStatements?: boolean;
}

interface Test {
  teardown(work: () => unknown): unknown;
}

interface PgBouncer {
  /** Of the database behind it. */
  url: string;
  /** Changes the mode while it runs, for clients that connect later. */
  setMode(mode: PgBouncerOptions['mode']): void;
}

/** Starts PgBouncer before the database at `url`. */
export async function startPgBouncer(
  t: Test,
  url: string,
  { mode, poolSize = 5, keepsStatements = false }: PgBouncerOptions,
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pgbouncer-'));
  const { hostname, port: serverPort, username, password } = new URL(url);
  const port = await findFreePort();
  const file = join(folder, 'pgbouncer.ini');
  const format = (mode: PgBouncerOptions['mode']) => `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 200
${skipBeforePgBouncer121 === false ? `max_prepared_statements = ${keepsStatements ? 200 : 0}` : ''}
`;
  writeFileSync(file, format(mode));
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chmodSync(folder, 0o755);
    chmodSync(file, 0o644);
  }
  const program = spawn(PROGRAM, [...(isRoot ? ['-u', 'nobody'] : []), '-q', file], {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = once(program, 'exit');
  t.teardown(async () => {
    program.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const pooled = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href;
  const deadline = performance.now() + START_MS;
  for (;;) {
    const sql = postgres(pooled, { max: 1, fetch_types: false, backoff: () => 0, connect_timeout: 1 });
    try {
      await sql.unsafe('select 1');
      return {
        url: pooled,
        setMode(mode) {
          writeFileSync(file, format(mode));
          program.kill('SIGHUP');
        },
      };
    } catch (error) {
      if (performance.now() > deadline || program.exitCode !== null) throw error;
      await delay(50);
    } finally {
      await sql.end({ timeout: 0 });
    }
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
