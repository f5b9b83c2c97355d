import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { buildApp } from '../../src/app.ts';
import type { Context } from '../../src/context.ts';
import { createWorker } from '../../src/worker.ts';
import { until } from '../processes/api-process.ts';
import { testContext } from '../support/context.ts';

const { app, ctx } = await testContext(t);
const READY = { status: 'ready', checks: { database: 'ok', migrations: 'ok', worker: 'ok' } };

/** Another application, in a world that differs. */
async function appOf(t: Test, given: Partial<Context>) {
  const other = await buildApp({ ...ctx, ...given });
  t.teardown(() => other.close());
  return other;
}

/** What is not ok, once the status agrees. */
async function failing(t: Test, asked = app) {
  const response = await asked.inject('/api/health/ready');
  const { status, checks } = response.json();
  t.equal(status, response.statusCode === 200 ? 'ready' : 'not_ready');
  return Object.fromEntries(Object.entries(checks).filter(([, found]) => found !== 'ok'));
}

t.test('a process that does its work is ready, to everybody', async (t) => {
  const response = await app.inject('/api/health/ready');
  t.equal(response.statusCode, 200);
  t.same(response.json(), READY);
  t.same(
    Object.keys(response.headers).filter((name) => name.startsWith('x-ratelimit')),
    [],
  );
});

t.test('a monitor that asks by HEAD is told the same by the status', async (t) => {
  const head = { method: 'HEAD', url: '/api/health/ready' } as const;
  t.match(await app.inject(head), { statusCode: 200, body: '' });
  const stuck = await appOf(t, { worker: { ...ctx.worker, isAlive: () => false } });
  t.match(await stuck.inject(head), { statusCode: 503, body: '' });
});

t.test('without the database it is not ready, and says so in time', async (t) => {
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  const away = await appOf(t, { db });
  t.same(await failing(t, away), { database: 'failed', migrations: 'unknown' });
});

t.test('a schema that is behind this version is not ready, one that is ahead of it is', async (t) => {
  const { db } = ctx;
  const newest = sql`(select max(created_at) from drizzle.__drizzle_migrations)`;
  await db.execute(sql`create table kept as select * from drizzle.__drizzle_migrations`);
  t.teardown(() => db.execute(sql`drop table kept`));
  await db.execute(sql`delete from drizzle.__drizzle_migrations where created_at = ${newest}`);
  t.same(await failing(t), { migrations: 'behind' });
  await db.execute(sql`delete from drizzle.__drizzle_migrations`);
  t.same(await failing(t), { migrations: 'behind' }, 'with none at all');
  await db.execute(sql`alter schema drizzle rename to elsewhere`);
  t.same(await failing(t), { migrations: 'behind' }, 'nor the table of them');
  await db.execute(sql`alter schema elsewhere rename to drizzle`);
  await db.execute(sql`insert into drizzle.__drizzle_migrations select * from kept`);
  t.same(await failing(t), {});
  await db.execute(sql`
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${newest} + 1)`);
  t.same(await failing(t), {}, 'as while the processes of a new version come up');
});

t.test('a worker that has not begun, or whose loops hang, is not ready; one that works is', async (t) => {
  const worker = createWorker(ctx, { graceMs: 0 });
  const working = await appOf(t, { worker });
  t.same(await failing(t, working), { worker: 'stuck' });
  worker.start();
  t.teardown(() => worker.stop());
  t.same(await failing(t, working), {});
});

t.test('from the moment in which the worker stops it is not ready', async (t) => {
  const worker = createWorker(ctx, { graceMs: 0 });
  const working = await appOf(t, { worker });
  worker.start();
  const stopped = worker.stop();
  t.same(await failing(t, working), { worker: 'stopping' });
  await stopped;
  t.same(await failing(t, working), { worker: 'stopping' });
});

t.test('while the process stops, a request that is still taken is told so in the same words', async (t) => {
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
  // An idle connection would be closed: each request has begun, and is whole only afterwards.
  await until(() => arrived.filter(({ bytesRead }) => bytesRead > 0).length === 2);
  stop.abort();
  const closed = app.close();
  for (const { end } of [ready, live]) end();
  t.match(await ready.answer, /^HTTP\/1\.1 503 [\s\S]*"worker":"stopping"/);
  t.match(await live.answer, /^HTTP\/1\.1 200 [\s\S]*"live"/);
  await closed;
});

t.test('a crowd that asks at once costs the database one statement', async (t) => {
  let statements = 0;
  const execute: Context['db']['execute'] = (query) => {
    statements += 1;
    return ctx.db.execute(query);
  };
  const db = new Proxy(ctx.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name)) });
  const crowded = await appOf(t, { db });
  const answers = await Promise.all(Array.from({ length: 50 }, () => crowded.inject('/api/health/ready')));
  for (const answer of answers) t.same(answer.json(), READY);
  t.ok(statements < 10, `${statements} statements`);
});
