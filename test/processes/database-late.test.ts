import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { queryRows, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { until } from '../../apps/api/test/support/until.ts';
import { openWire } from '../../packages/db/test/wire.ts';
import { startApiProcess } from './api-process.ts';

const MAIN = fileURLToPath(new URL('../../apps/api/src/main.ts', import.meta.url));
const ADMIN = { BOOTSTRAP_ADMIN_EMAIL: 'ada@example.com', BOOTSTRAP_ADMIN_PASSWORD: 'Carillon-2026' };
/** Shorter than the shutdown delay of the test. */
const MAX_STOP_MS = 8000;

/** An error response of PostgreSQL, as a server sends it that recovers from a crash. */
function buildErrorResponse(fields: Record<string, string>): Buffer {
  const body = `${Object.entries(fields)
    .map(([type, value]) => `${type}${value}\0`)
    .join('')}\0`;
  const header = Buffer.from('E\0\0\0\0');
  header.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([header, Buffer.from(body)]);
}

/** Listens at `port` like a PostgreSQL that starts up, until `close`. */
async function startUpAt(t: Test, port: number) {
  const refusal = buildErrorResponse({ S: 'FATAL', C: '57P03', M: 'the database system is starting up' });
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(refusal));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return { close: () => new Promise((resolve) => server.close(resolve)) };
}

t.test('A process that starts before its database waits for it, and then runs', async (t) => {
  const { url, db } = await testDatabase(t);
  const wire = await openWire(t, url);
  const name = sql.identifier(new URL(url).pathname.slice(1));
  await wire.cut();
  const api = await startApiProcess(t, { databaseUrl: wire.url, aiUrl: 'offline', env: ADMIN });
  const readReasons = () => api.log.filter(({ msg }) => msg === 'waiting for the database').map(({ reason }) => reason);
  const ask = async (path: string) => {
    const response = await fetch(api.url + path);
    return { status: response.status, headers: response.headers, body: (await response.json()) as object };
  };
  t.match(await ask('/api/health/live'), { status: 200 });
  t.match(await ask('/api/health'), { status: 200 });
  t.match(await ask('/api/health/ready'), {
    status: 503,
    body: {
      status: 'not_ready',
      checks: { database: 'failed', migrations: 'unknown', worker: 'starting', scheduler: 'unknown' },
      reason: 'Waiting for the database: it refuses connections (ECONNREFUSED).',
    },
  });
  for (const path of ['/api/auth/session', '/api/tasks', '/']) {
    const { status, headers, body } = await ask(path);
    t.match({ status, body }, { status: 503, body: { success: false, error: 'Service unavailable' } }, path);
    t.equal(headers.get('retry-after'), '5');
  }

  const starting = await startUpAt(t, Number(new URL(wire.url).port));
  await until(() => readReasons().length === 2);
  t.match(await ask('/api/health/ready'), { body: { reason: /it starts up or recovers \(57P03\)/ } });
  await starting.close();

  await db.execute(sql`alter database ${name} set default_transaction_read_only = on`);
  await wire.restore();
  await until(() => readReasons().length === 3);
  t.match(await ask('/api/health/ready'), { body: { reason: /it is read-only, like a standby \(25006\)/ } });
  t.same(
    readReasons(),
    [
      'it refuses connections (ECONNREFUSED)',
      'it starts up or recovers (57P03)',
      'it is read-only, like a standby (25006)',
    ],
    'one line for each reason',
  );

  await db.execute(sql`alter database ${name} reset default_transaction_read_only`);
  await until(async () => (await ask('/api/health/ready')).status === 200);
  t.match(await ask('/api/health/ready'), { body: { status: 'ready', checks: { worker: 'ok' } } });
  t.equal((await ask('/api/tasks')).status, 401);
  t.same(await db.select({ email: users.email, role: users.role }).from(users), [
    { email: 'ada@example.com', role: 'ADMIN' },
  ]);
  const findStart = () => api.log.find(({ msg }) => msg === 'started');
  await until(() => findStart() !== undefined);
  const started = findStart();
  const [server] = await queryRows<{ version: string }>(db, sql`select current_setting('server_version') as version`);
  t.match(started, { migrationsApplied: /^\d+$/, postgres: server?.version, provider: 'offline', url: api.url });
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  t.same(
    api.log.slice(-2).map(({ msg }) => msg),
    ['stopping', 'stopped'],
  );
});

t.test('SIGTERM ends a process that waits for its database at once', async (t) => {
  const api = await startApiProcess(t, {
    databaseUrl: 'postgres://127.0.0.1:9/nothing',
    aiUrl: 'offline',
    env: { SHUTDOWN_DELAY_MS: '10000' },
  });
  const timer = setTimeout(() => api.signal('SIGKILL'), MAX_STOP_MS);
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  clearTimeout(timer);
  t.same(
    api.log.slice(-2).map(({ msg }) => msg),
    ['stopping', 'stopped'],
  );
});

t.test('A database that only other settings can reach ends the start with one line', async (t) => {
  const { url } = await testDatabase(t);
  const withUrl = (change: (url: URL) => void) => {
    const changed = new URL(url);
    change(changed);
    return changed.href;
  };
  const cases = {
    'password authentication failed': withUrl((changed) => {
      changed.password = 'wrong';
    }),
    'database "nothing" does not exist': withUrl((changed) => {
      changed.pathname = '/nothing';
    }),
  };
  const cwd = t.testdir();
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  await Promise.all(
    Object.entries(cases).map(async ([reason, databaseUrl], index) => {
      const child = spawn(process.execPath, [MAIN], {
        cwd,
        env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: `${cwd}/${index}`, PORT: '0', DATABASE_URL: databaseUrl },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      t.teardown(() => child.kill('SIGKILL'));
      const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      t.match(stderr, new RegExp(`^The database at \\S+ cannot be used \\(${reason}.*\\): correct DATABASE_URL.*\\n$`));
      t.equal(code, 1);
    }),
  );
});
