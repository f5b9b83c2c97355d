import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { connect } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import t, { type Test } from 'tap';
import { buildApp } from '../../src/app.ts';
import { ConfigError } from '../../src/config/config.ts';
import type { Context } from '../../src/context.ts';
import { queueMail } from '../../src/mail/queue.ts';
import { startMetricsServer } from '../../src/telemetry/metrics-server.ts';
import { watchProcess } from '../../src/telemetry/watch-process.ts';
import { START, testContext } from '../support/context.ts';
import { scrape } from '../support/metrics/scrape.ts';
import { signUpAlice } from '../support/people.ts';
import { insertTask, queueRuns } from '../support/schedules.ts';
import { insertWebhooks, recordMany } from '../support/webhooks.ts';

const { app, ctx, clock, logged } = await testContext(t);
const alice = await signUpAlice(app);
const ANY_PORT = { host: '127.0.0.1', port: 0 };
const poolState = () => ({ open: 7, inUse: 3, waiting: 2 });

/** The metrics of a process that differs from this one by `given`; what it reads is never older than itself. */
async function watch(t: Test, given: Partial<Context> = {}) {
  const watched = { ...ctx, ...given };
  const server = await watchProcess(watched, ANY_PORT, poolState);
  t.teardown(() => server[Symbol.asyncDispose]());
  return { ...server, ctx: watched };
}

t.test('what waits in the database is told, and how long the oldest has been due', async (t) => {
  const idle = await scrape((await watch(t)).url);
  for (const queue of ['executions', 'deliveries', 'mails']) {
    t.equal(idle.value('carillon_queue_depth', { queue }), 0, queue);
  }
  t.equal(idle.value('carillon_oldest_due_age_seconds'), 0);
  t.equal(idle.value('carillon_maintenance_mode'), 0);

  const tasks = [await insertTask(ctx, alice.id), await insertTask(ctx, alice.id)];
  await insertTask(ctx, alice.id, { nextExecutionAt: new Date(START.getTime() - 30_000) });
  await queueRuns(ctx, tasks);
  await insertWebhooks(ctx, alice.id, ['https://hooks.example.com/', 'https://hooks.example.org/']);
  await recordMany(ctx, alice.id, 2);
  await queueMail(ctx, { to: 'bob@example.com', subject: 'Hello', text: 'Bob' });
  await ctx.db.execute(sql`update settings set maintenance_mode = true`);
  t.teardown(() => ctx.db.execute(sql`update settings set maintenance_mode = false`));
  clock.advance(2500);
  const busy = await scrape((await watch(t)).url);
  t.equal(busy.value('carillon_queue_depth', { queue: 'executions' }), 2);
  t.equal(busy.value('carillon_queue_depth', { queue: 'deliveries' }), 4);
  t.equal(busy.value('carillon_queue_depth', { queue: 'mails' }), 1);
  t.equal(busy.value('carillon_oldest_due_age_seconds'), 32.5);
  t.equal(busy.value('carillon_maintenance_mode'), 1);
});

t.test('the pool, the version, the process and the event loop are told', async (t) => {
  const told = await scrape((await watch(t)).url);
  t.equal(told.value('carillon_database_connections_open'), 7);
  t.equal(told.value('carillon_database_connections_in_use'), 3);
  t.equal(told.value('carillon_database_connections_waiting'), 2);
  t.equal(told.value('carillon_database_connections_max'), ctx.config.databasePool);
  t.equal(told.value('carillon_build_info'), 1);
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    t.ok(told.types.has(name), name);
  }
});

t.test('each check of readiness is told by itself', async (t) => {
  const checks = async (given: Partial<Context>) => {
    const told = await scrape((await watch(t, given)).url);
    return ['database', 'migrations', 'worker'].map((check) => told.value('carillon_ready', { check }));
  };
  t.same(await checks({}), [1, 1, 1]);
  t.same(await checks({ worker: { ...ctx.worker, isAlive: () => false } }), [1, 1, 0]);
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  t.same(await checks({ db }), [0, undefined, 1], 'of the schema nothing is known then');
});

t.test('without the database a scrape succeeds, and leaves out what nobody knows', async (t) => {
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  const told = await scrape((await watch(t, { db })).url);
  for (const name of ['carillon_oldest_due_age_seconds', 'carillon_queue_depth', 'carillon_maintenance_mode']) {
    t.equal(told.value(name), undefined, name);
  }
  t.equal(told.value('carillon_database_connections_open'), 7);
  t.equal(told.value('carillon_executions_total', { outcome: 'completed' }), 0);
});

const dialect = new PgDialect();

t.test('many scrapes read the queues once', async (t) => {
  let reads = 0;
  const execute: Context['db']['execute'] = (query) => {
    // Not what readiness asks, as often as it is asked.
    if (typeof query !== 'string' && /from executions/.test(dialect.sqlToQuery(query.getSQL()).sql)) reads += 1;
    return ctx.db.execute(query);
  };
  const db = new Proxy(ctx.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name)) });
  const { url } = await watch(t, { db });
  await Promise.all(Array.from({ length: 20 }, () => scrape(url)));
  t.equal(reads, 1);
});

t.test('requests are told by their pattern, never by what stands in them', async (t) => {
  const { url, ctx: watched } = await watch(t);
  const other = await buildApp(watched);
  t.teardown(() => other.close());
  const secret = 'a-secret-that-is-only-in-this-path';
  const before = (await scrape(url)).samples.length;
  for (let id = 1001; id <= 1030; id++) {
    await other.inject({ url: `/api/tasks/${id}`, headers: alice.headers });
    await other.inject(`/api/webhooks/${id}/${secret}`);
    await other.inject(`/${secret}/${id}?token=${secret}`);
    await other.inject('/api/health');
  }
  const told = await scrape(url);
  const count = (labels: Record<string, string>) =>
    told.value('carillon_http_request_duration_seconds_count', { method: 'GET', ...labels });
  t.equal(count({ route: '/api/tasks/:id', status: '4xx' }), 30);
  t.equal(count({ route: '/api/webhooks/:userId/:secret' }), 30);
  t.equal(count({ route: 'unknown', status: '4xx' }), 30);
  t.equal(count({ route: '/api/health', status: '2xx' }), 30);
  t.notOk(told.text.includes(secret));
  t.notOk(told.text.includes(alice.email));
  t.ok(told.samples.length - before < 100, 'so their number is bounded');
});

t.test('refusals of the rate limits count by their bucket', async (t) => {
  const { app, ctx: limited } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const server = await watchProcess(limited, ANY_PORT, poolState);
  t.teardown(() => server[Symbol.asyncDispose]());
  for (let i = 0; i < 103; i++) await app.inject({ url: '/api/nothing' });
  const carol = await signUpAlice(app);
  for (let i = 0; i < 7; i++) {
    await app.inject({ method: 'POST', url: '/api/webhooks', headers: carol.headers, payload: {} });
  }
  const told = await scrape(server.url);
  t.equal(told.value('carillon_rate_limit_refusals_total', { bucket: 'public endpoints' }), 3);
  t.equal(told.value('carillon_rate_limit_refusals_total', { bucket: 'POST /api/webhooks' }), 2);
});

t.test('only GET /metrics is answered there', async (t) => {
  const { url } = await watch(t);
  const { origin } = new URL(url);
  const got = await fetch(`${url}?name[]=carillon_ready`);
  t.equal(got.status, 200);
  t.match(got.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  for (const path of ['/', '/metrics/', '/api/health', '/api/tasks', '/..%2fmetrics']) {
    t.equal((await fetch(`${origin}${path}`)).status, 404, path);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) {
    const refused = await fetch(url, { method });
    t.equal(refused.status, 405, method);
    t.equal(refused.headers.get('allow'), 'GET');
  }
  t.equal((await app.inject('/metrics')).statusCode, 404, 'and it is not at the port of the API');
});

t.test('a failure of the scrape itself is told in the log, and by 500', async (t) => {
  const failing = () => Promise.reject(new Error('no numbers today'));
  const server = await startMetricsServer(ctx, ANY_PORT, failing);
  t.teardown(server.close);
  t.equal((await fetch(server.url)).status, 500);
  t.ok(logged.some(({ msg }) => msg === 'the metrics could not be told'));
});

t.test('closing waits for nobody', async (t) => {
  const server = await startMetricsServer(ctx, ANY_PORT, () => new Promise(() => {}));
  const { port } = new URL(server.url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  const gone = once(socket, 'close');
  const hanging = request(server.url).end();
  const cut = once(hanging, 'error');
  await once(socket, 'connect');
  await server.close();
  await Promise.all([gone, cut]);
  await t.rejects(fetch(server.url));
});

t.test('an address that cannot be listened at is told in one line that names the setting', async (t) => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  t.teardown(() => squatter.close());
  const { port } = squatter.address() as AddressInfo;
  const start = (host: string, at: number) =>
    startMetricsServer(ctx, { host, port: at }, async () => ({ contentType: '', text: '' }));
  const taken = await start('127.0.0.1', port).catch((error) => error);
  t.ok(taken instanceof ConfigError);
  t.equal(taken.message, `METRICS_PORT is ${port}, which is taken: stop the other program or set another one.`);
  const nowhere = await start('203.0.113.1', 0).catch((error) => error);
  t.ok(nowhere instanceof ConfigError);
  t.match(nowhere.message, /^METRICS_HOST is "203\.0\.113\.1", which this machine cannot listen at \(\w+\)\.$/);
});
