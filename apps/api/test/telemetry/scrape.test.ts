import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { connect } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import t, { type Test } from 'tap';
import type { Context } from '../../src/context.ts';
import { buildApp } from '../../src/entry/app.ts';
import { ConfigError } from '../../src/lib/config/config.ts';
import { queueMail } from '../../src/lib/mail/queue.ts';
import { startMetrics, startMetricsServer } from '../../src/lib/telemetry/metrics-server.ts';
import { createReadinessCheck } from '../../src/product/system/health/readiness.ts';
import { START, testContext } from '../support/context.ts';
import { scrape } from '../support/metrics/scrape.ts';
import { signUpAlice } from '../support/people.ts';
import { insertQueuedRuns, insertTask } from '../support/task-rows.ts';
import { insertWebhooks, recordManyEvents } from '../support/webhooks.ts';

const { app, ctx, clock, logged } = await testContext(t);
const alice = await signUpAlice(app);
const ANY_PORT = { host: '127.0.0.1', port: 0 };
const poolState = () => ({ open: 7, inUse: 3, waiting: 2 });

/** Starts the metrics of a process whose context differs by `overrides`. */
async function measure(t: Test, overrides: Partial<Context> = {}, base = ctx) {
  const measured = { ...base, ...overrides };
  const readReadiness = createReadinessCheck(measured);
  const { url, close, metrics } = await startMetrics(ANY_PORT, {
    db: measured.db,
    now: measured.now,
    log: measured.log,
    poolState,
    maxConnections: measured.config.databasePool,
    readChecks: async () => (await readReadiness()).checks,
  });
  t.teardown(close);
  measured.metrics = metrics;
  return { url, ctx: measured };
}

t.test('The depth of each queue and the age of the oldest due task are measured', async (t) => {
  const idle = await scrape((await measure(t)).url);
  for (const queue of ['executions', 'deliveries', 'mails', 'looks']) {
    t.equal(idle.value('carillon_queue_depth', { queue }), 0, queue);
  }
  t.equal(idle.value('carillon_oldest_due_age_seconds'), 0);
  t.equal(idle.value('carillon_maintenance_mode'), 0);

  const tasks = [await insertTask(ctx, alice.id), await insertTask(ctx, alice.id)];
  await insertTask(ctx, alice.id, { nextExecutionAt: new Date(START.getTime() - 30_000) });
  await insertQueuedRuns(ctx, tasks);
  await insertWebhooks(ctx, alice.id, ['https://hooks.example.com/', 'https://hooks.example.org/']);
  await recordManyEvents(ctx, alice.id, 2);
  await queueMail(ctx, { to: 'bob@example.com', subject: 'Hello', text: 'Bob' });
  await ctx.db.execute(sql`update settings set maintenance_mode = true`);
  t.teardown(() => ctx.db.execute(sql`update settings set maintenance_mode = false`));
  clock.advance(2500);
  const busy = await scrape((await measure(t)).url);
  t.equal(busy.value('carillon_queue_depth', { queue: 'executions' }), 2);
  t.equal(busy.value('carillon_queue_depth', { queue: 'deliveries' }), 4);
  t.equal(busy.value('carillon_queue_depth', { queue: 'mails' }), 1);
  t.equal(busy.value('carillon_oldest_due_age_seconds'), 32.5);
  t.equal(busy.value('carillon_maintenance_mode'), 1);
});

t.test('The connection pool, the version, the process and the event loop are measured', async (t) => {
  const scraped = await scrape((await measure(t)).url);
  t.equal(scraped.value('carillon_database_connections_open'), 7);
  t.equal(scraped.value('carillon_database_connections_in_use'), 3);
  t.equal(scraped.value('carillon_database_connections_waiting'), 2);
  t.equal(scraped.value('carillon_database_connections_max'), ctx.config.databasePool);
  t.equal(scraped.value('carillon_build_info'), 1);
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    t.ok(scraped.types.has(name), name);
  }
});

t.test('Each readiness check has a sample of its own', async (t) => {
  const checks = async (given: Partial<Context>) => {
    const scraped = await scrape((await measure(t, given)).url);
    return ['database', 'migrations', 'worker'].map((check) => scraped.value('carillon_ready', { check }));
  };
  t.same(await checks({}), [1, 1, 1]);
  t.same(await checks({ worker: { ...ctx.worker, isAlive: () => false } }), [1, 1, 0]);
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  t.same(await checks({ db }), [0, undefined, 1], 'without the database the schema is unknown');
});

t.test('A scrape succeeds without the database and leaves out what it cannot read', async (t) => {
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  const scraped = await scrape((await measure(t, { db })).url);
  for (const name of ['carillon_oldest_due_age_seconds', 'carillon_queue_depth', 'carillon_maintenance_mode']) {
    t.equal(scraped.value(name), undefined, name);
  }
  t.equal(scraped.value('carillon_database_connections_open'), 7);
  t.equal(scraped.value('carillon_executions_total', { outcome: 'completed' }), 0);
});

const dialect = new PgDialect();

t.test('Concurrent scrapes read the queues once', async (t) => {
  let reads = 0;
  const execute: Context['db']['execute'] = (query) => {
    // Readiness has statements of its own.
    if (typeof query !== 'string' && /from executions/.test(dialect.sqlToQuery(query.getSQL()).sql)) reads += 1;
    return ctx.db.execute(query);
  };
  const db = new Proxy(ctx.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name)) });
  const { url } = await measure(t, { db });
  await Promise.all(Array.from({ length: 20 }, () => scrape(url)));
  t.equal(reads, 1);
});

t.test('Requests are measured by route pattern, never by their URL', async (t) => {
  const { url, ctx: measured } = await measure(t);
  const api = await buildApp(measured);
  t.teardown(() => api.close());
  const secret = 'a-secret-that-is-only-in-this-path';
  const before = (await scrape(url)).samples.length;
  for (let id = 1001; id <= 1030; id++) {
    await api.inject({ url: `/api/tasks/${id}`, headers: alice.headers });
    await api.inject(`/api/webhooks/${id}/${secret}`);
    await api.inject(`/${secret}/${id}?token=${secret}`);
    await api.inject('/api/health');
  }
  const scraped = await scrape(url);
  const count = (labels: Record<string, string>) =>
    scraped.value('carillon_http_request_duration_seconds_count', { method: 'GET', ...labels });
  t.equal(count({ route: '/api/tasks/:id', status: '4xx' }), 30);
  t.equal(count({ route: '/api/webhooks/:userId/:secret' }), 30);
  t.equal(count({ route: 'unknown', status: '4xx' }), 30);
  t.equal(count({ route: '/api/health', status: '2xx' }), 30);
  t.notOk(scraped.text.includes(secret));
  t.notOk(scraped.text.includes(alice.email));
  t.ok(scraped.samples.length - before < 100, 'the number of samples is bounded');
});

t.test('Requests rejected by a rate limit count by its bucket', async (t) => {
  const { app, ctx: limited } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const { url, ctx: measured } = await measure(t, {}, limited);
  limited.metrics = measured.metrics;
  for (let i = 0; i < 603; i++) await app.inject({ url: '/api/nothing' });
  const carol = await signUpAlice(app);
  for (let i = 0; i < 7; i++) {
    await app.inject({ method: 'POST', url: '/api/webhooks', headers: carol.headers, payload: {} });
  }
  const scraped = await scrape(url);
  t.equal(scraped.value('carillon_rate_limit_refusals_total', { bucket: 'public endpoints' }), 3);
  t.equal(scraped.value('carillon_rate_limit_refusals_total', { bucket: 'POST /api/webhooks' }), 2);
});

t.test('The metrics port answers only GET /metrics', async (t) => {
  const { url } = await measure(t);
  const { origin } = new URL(url);
  const got = await fetch(`${url}?name[]=carillon_ready`);
  t.equal(got.status, 200);
  t.match(got.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  for (const path of ['/', '/metrics/', '/api/health', '/api/tasks', '/..%2fmetrics']) {
    t.equal((await fetch(`${origin}${path}`)).status, 404, path);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await fetch(url, { method });
    t.equal(refused.status, 405, method);
    t.equal(refused.headers.get('allow'), 'GET, HEAD');
  }
  const head = await fetch(url, { method: 'HEAD' });
  t.match({ status: head.status, body: await head.text() }, { status: 200, body: '' });
  t.equal((await app.inject('/metrics')).statusCode, 404, 'the port of the API does not answer it');
});

t.test('A failed scrape is logged and answered with 500', async (t) => {
  const failing = () => Promise.reject(new Error('no numbers today'));
  const server = await startMetricsServer(ctx, ANY_PORT, failing);
  t.teardown(server.close);
  t.equal((await fetch(server.url)).status, 500);
  t.ok(logged.some(({ msg }) => msg === 'metrics scrape failed'));
});

t.test('Closing does not wait for open connections', async (t) => {
  const server = await startMetricsServer(ctx, ANY_PORT, () => new Promise(() => {}));
  const { port } = new URL(server.url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  const closed = once(socket, 'close');
  const hanging = request(server.url).end();
  const cut = once(hanging, 'error');
  await once(socket, 'connect');
  await server.close();
  await Promise.all([closed, cut]);
  await t.rejects(fetch(server.url));
});

t.test('An address that cannot be listened at is reported in one line that names the setting', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const start = (host: string, at: number) =>
    startMetricsServer(ctx, { host, port: at }, async () => ({ contentType: '', text: '' }));
  const taken = await start('127.0.0.1', port).catch((error) => error);
  t.ok(taken instanceof ConfigError);
  t.equal(taken.message, `METRICS_PORT is ${port}, which is taken: stop the other program or set another one.`);
  const foreign = await start('203.0.113.1', 0).catch((error) => error);
  t.ok(foreign instanceof ConfigError);
  t.match(foreign.message, /^METRICS_HOST is "203\.0\.113\.1", which this machine cannot listen at \(\w+\)\.$/);
});
