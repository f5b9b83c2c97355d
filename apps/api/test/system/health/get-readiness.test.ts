import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import type { Context } from '../../../src/context.ts';
import { buildApp } from '../../../src/entry/app.ts';
import { createWorker } from '../../../src/entry/worker.ts';
import { testContext } from '../../support/context.ts';
import { until } from '../../support/until.ts';

const { app, ctx, databaseUrl } = await testContext(t);
const READY = { status: 'ready', checks: { database: 'ok', migrations: 'ok', worker: 'ok', scheduler: 'ok' } };

/** Builds an application whose context differs by `overrides`. */
async function buildWith(t: Test, overrides: Partial<Context>) {
  const other = await buildApp({ ...ctx, ...overrides });
  t.teardown(() => other.close());
  return other;
}

/** The checks that are not ok, after comparing the body with the status. */
async function readFailing(t: Test, asked = app) {
  const response = await asked.inject('/api/health/ready');
  const { status, checks } = response.json();
  t.equal(status, response.statusCode === 200 ? 'ready' : 'not_ready');
  return Object.fromEntries(Object.entries(checks).filter(([, found]) => found !== 'ok'));
}

t.test('A working process is ready, without authentication or rate limit', async (t) => {
  const response = await app.inject('/api/health/ready');
  t.equal(response.statusCode, 200);
  t.same(response.json(), READY);
  t.same(
    Object.keys(response.headers).filter((name) => name.startsWith('x-ratelimit')),
    [],
  );
});

t.test('HEAD answers the same status', async (t) => {
  const head = { method: 'HEAD', url: '/api/health/ready' } as const;
  t.match(await app.inject(head), { statusCode: 200, body: '' });
  const stuck = await buildWith(t, { worker: { ...ctx.worker, isAlive: () => false } });
  t.match(await stuck.inject(head), { statusCode: 503, body: '' });
});

t.test('A process without its database is not ready', async (t) => {
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  const disconnected = await buildWith(t, { db });
  t.same(await readFailing(t, disconnected), { database: 'failed', migrations: 'unknown', scheduler: 'unknown' });
  const { reason } = (await disconnected.inject('/api/health/ready')).json();
  t.equal(reason, 'The database is not available: it refuses connections (ECONNREFUSED).');
});

t.test('A process whose database is read-only is not ready, and says so', async (t) => {
  const name = sql.identifier(new URL(databaseUrl).pathname.slice(1));
  await ctx.db.execute(sql`alter database ${name} set default_transaction_read_only = on`);
  t.teardown(() => ctx.db.execute(sql`alter database ${name} reset default_transaction_read_only`));
  const { db, close } = connect(databaseUrl);
  t.teardown(close);
  const standby = await buildWith(t, { db });
  t.same(await readFailing(t, standby), { database: 'read_only' });
  const { reason } = (await standby.inject('/api/health/ready')).json();
  t.equal(reason, 'The database is read-only, like a standby.');
  t.same(await readFailing(t), {}, 'a process with the primary is ready');
});

t.test('A schema behind this version is not ready, one ahead of it is', async (t) => {
  const { db } = ctx;
  const newest = sql`(select max(created_at) from drizzle.__drizzle_migrations)`;
  await db.execute(sql`create table kept as select * from drizzle.__drizzle_migrations`);
  t.teardown(() => db.execute(sql`drop table kept`));
  await db.execute(sql`delete from drizzle.__drizzle_migrations where created_at = ${newest}`);
  t.same(await readFailing(t), { migrations: 'behind' });
  await db.execute(sql`delete from drizzle.__drizzle_migrations`);
  t.same(await readFailing(t), { migrations: 'behind' }, 'no migration');
  await db.execute(sql`alter schema drizzle rename to elsewhere`);
  t.same(await readFailing(t), { migrations: 'behind', scheduler: 'unknown' }, 'no table of migrations');
  await db.execute(sql`alter schema elsewhere rename to drizzle`);
  await db.execute(sql`insert into drizzle.__drizzle_migrations select * from kept`);
  t.same(await readFailing(t), {});
  await db.execute(sql`
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${newest} + 1)`);
  t.same(await readFailing(t), {}, 'as during the rollout of a new version');
});

t.test('A worker that has not started is not ready, a working one is', async (t) => {
  const worker = createWorker(ctx, { graceMs: 0 });
  const working = await buildWith(t, { worker });
  t.same(await readFailing(t, working), { worker: 'stuck' });
  worker.start();
  t.teardown(() => worker.stop());
  t.same(await readFailing(t, working), {});
});

t.test('A stopping worker is not ready', async (t) => {
  const worker = createWorker(ctx, { graceMs: 0 });
  const working = await buildWith(t, { worker });
  worker.start();
  const stopped = worker.stop();
  t.same(await readFailing(t, working), { worker: 'stopping' });
  await stopped;
  t.same(await readFailing(t, working), { worker: 'stopping' });
});

t.test('A request accepted while the process stops is answered with worker: stopping', async (t) => {
  const stop = new AbortController();
  const { app } = await testContext(t, { worker: { stopping: stop.signal } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const arrived: Socket[] = [];
  app.server.on('connection', (socket) => arrived.push(socket));
  const begin = (path: string) => {
    const socket = connectSocket((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n`);
    return { end: () => socket.write('\r\n'), answer: text(socket) };
  };
  const [ready, live] = [begin('/api/health/ready'), begin('/api/health/live')];
  // Stopping closes idle connections: both requests have begun and are completed afterwards.
  await until(() => arrived.filter(({ bytesRead }) => bytesRead > 0).length === 2);
  stop.abort();
  const closed = app.close();
  for (const { end } of [ready, live]) end();
  t.match(await ready.answer, /^HTTP\/1\.1 503 [\s\S]*"worker":"stopping"/);
  t.match(await live.answer, /^HTTP\/1\.1 200 [\s\S]*"live"/);
  await closed;
});

t.test('Concurrent readiness requests share statements', async (t) => {
  let statements = 0;
  const execute: Context['db']['execute'] = (query) => {
    statements += 1;
    return ctx.db.execute(query);
  };
  const db = new Proxy(ctx.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name)) });
  const crowded = await buildWith(t, { db });
  const answers = await Promise.all(Array.from({ length: 50 }, () => crowded.inject('/api/health/ready')));
  for (const answer of answers) t.same(answer.json(), READY);
  t.ok(statements < 10, `${statements} statements`);
});
