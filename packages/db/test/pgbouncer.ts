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
const START_MS = 10_000;

const isInstalled = spawnSync('pgbouncer', ['--version'], { env: { PATH } }).status === 0;
if (!isInstalled && process.env.REQUIRE_PROGRAMS)
  throw new Error('REQUIRE_PROGRAMS is set, but there is no pgbouncer on the path.');
/** The reason to skip a test, or false. */
export const skipWithoutPgBouncer = isInstalled ? false : 'needs PgBouncer (apt-get install pgbouncer)';

interface Test {
  teardown(work: () => unknown): unknown;
}

/** Starts PgBouncer before the database at `url`; returns the URL of the same database behind it. */
export async function startPgBouncer(t: Test, url: string, mode: 'session' | 'transaction'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-pgbouncer-'));
  const { hostname, port: serverPort, username, password } = new URL(url);
  const port = await findFreePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 5
max_client_conn = 200
`,
  );
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chmodSync(folder, 0o755);
    chmodSync(file, 0o644);
  }
  const program = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), '-q', file], {
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
      return pooled;
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
