import { randomUUID } from 'node:crypto';
import { apiKeys, apiKeyUsage, executions, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { Client } from 'undici';
import { generateApiKey, hashApiKey } from '../../apps/api/src/product/auth/tokens.ts';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { PRODUCTION_ENV } from '../../apps/api/test/support/production.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { countStates, insertDueTasks, insertPeople } from './due-tasks.ts';

t.jobs = 2;

t.test('On SIGTERM a process finishes what runs, leaves what is pending, and exits with 0', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer({ delayMs: 1500 });
  t.teardown(ai.close);
  const settings = { databaseUrl, aiUrl: ai.url };
  const api = await startApiProcess(t, settings);
  await insertDueTasks(db, { userIds: await insertPeople(db, 4), perUser: 8, at: new Date() });
  const waiting = api.tick();
  await until(async () => (await countStates(db)).running === 20);

  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  t.equal((await waiting).failed, 0, 'the waiting call of the trigger was answered');
  t.strictSame(await countStates(db), { pending: 12, running: 0, completed: 20, failed: 0 });
  t.equal(ai.requests.length, 20, 'nothing more was started');
  t.strictSame(await findWrongCounters(db), []);

  const next = await startApiProcess(t, settings);
  await until(async () => (await countStates(db)).completed === 32);
  t.equal(ai.requests.length, 32, 'the next process runs the rest by itself');
  t.strictSame(await next.end('SIGTERM'), { code: 0, signal: null }, 'a process with nothing to do ends at once');
});

t.test(
  'On SIGTERM an execution that takes longer than the grace period of 20 s is handed to another process',
  async (t) => {
    const { db, url: databaseUrl } = await testDatabase(t);
    const ai = await startAiServer();
    t.teardown(ai.close);
    ai.answer((_request, index) => (index < 5 ? { hang: 'head' } : { text: 'from the second' }));
    const settings = { databaseUrl, aiUrl: ai.url, leaseMs: 1500 };
    const first = await startApiProcess(t, settings);
    await insertDueTasks(db, { userIds: await insertPeople(db, 1), perUser: 5, at: new Date() });
    await first.tick({ wait: false });
    await until(() => ai.requests.length === 5);
    const second = await startApiProcess(t, settings);

    const startedAt = performance.now();
    const ended = first.end('SIGTERM');
    // The second process may be faster than the exit of the first.
    await until(() => ai.requests.length > 5, 60_000);
    const tookMs = performance.now() - startedAt;
    t.ok(tookMs > 19_000, `its leases held for ${Math.round(tookMs)} ms`);
    t.strictSame(await ended, { code: 0, signal: null });
    await until(async () => (await countStates(db)).completed === 5);
    const stored = await db
      .select({ result: executions.result, interruptions: executions.interruptions })
      .from(executions);
    t.strictSame(stored, Array(5).fill({ result: 'from the second', interruptions: 0 }));
    t.equal(second.isAlive(), true);
    t.strictSame(await findWrongCounters(db), []);
  },
);

t.test('On SIGTERM the use of API keys is recorded before the process exits', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline' });
  const [userId = 0] = await insertPeople(db, 1);
  const secret = generateApiKey();
  const key = { name: 'A program', prefix: secret.slice(0, 12), scopes: ['tasks:read'], createdAt: new Date() };
  await db.insert(apiKeys).values({ ...key, id: randomUUID(), userId, secretHash: hashApiKey(secret) });
  for (let i = 0; i < 10; i++) {
    const { status } = await fetch(`${api.url}/api/tasks`, { headers: { authorization: `Bearer ${secret}` } });
    t.equal(status, 200);
  }
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  t.match(await db.select().from(apiKeyUsage), [{ requests: 10 }]);
  t.match(await db.select().from(apiKeys), [{ lastUsedAt: Date }]);
});

t.test('On SIGTERM right after its start a process exits with 0', async (t) => {
  const { url: databaseUrl } = await testDatabase(t);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline' });
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
});

t.test('A stopping process answers requests over open connections and reports that it is not ready', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env: PRODUCTION_ENV });
  const clients = [new Client(api.url), new Client(api.url)];
  t.teardown(() => Promise.all(clients.map((client) => client.destroy())));
  const [watcher, writer] = clients as [Client, Client];
  const isReady = async () => {
    const { statusCode, body } = await watcher.request({ method: 'GET', path: '/api/health/ready' });
    return { statusCode, body: await body.json() };
  };
  await until(async () => (await isReady()).statusCode === 200);
  await (await writer.request({ method: 'GET', path: '/api/health' })).body.dump();

  const ended = api.end('SIGTERM');
  await until(() => isRefused(api.url));
  t.match(await isReady(), { statusCode: 503, body: { checks: { worker: 'stopping' } } });
  const { statusCode, headers, body } = await writer.request({
    method: 'POST',
    path: '/api/auth/register',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Alice', email: 'alice@example.com', password: 'Carillon-2026' }),
  });
  await body.dump();
  t.equal(statusCode, 201);
  t.equal(headers.connection, 'close');
  t.equal((await db.select().from(users)).length, 1);
  t.strictSame(await ended, { code: 0, signal: null });
});

t.test('With SHUTDOWN_DELAY_MS a stopping process accepts connections until its readiness was seen', async (t) => {
  const { url: databaseUrl } = await testDatabase(t);
  const env = { SHUTDOWN_DELAY_MS: '8000' };
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env });
  const ask = async (path: string) =>
    (await fetch(api.url + path, { headers: { connection: 'close' } }).catch(() => null))?.status;
  await until(async () => (await ask('/api/health/ready')) === 200);
  const ended = api.end('SIGTERM');
  await until(async () => (await ask('/api/health/ready')) === 503);
  t.equal(await ask('/api/health'), 200);
  t.strictSame(await ended, { code: 0, signal: null });
});

for (const again of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${again} after SIGTERM ends a process at once and leaves running executions to their leases`, async (t) => {
    const { db, url: databaseUrl } = await testDatabase(t);
    const ai = await startAiServer();
    t.teardown(ai.close);
    ai.answer(() => ({ hang: 'head' }));
    const api = await startApiProcess(t, { databaseUrl, aiUrl: ai.url });
    await insertDueTasks(db, { userIds: await insertPeople(db, 1), perUser: 1, at: new Date() });
    await api.tick({ wait: false });
    await until(() => ai.requests.length === 1);
    api.signal('SIGTERM');
    await until(() => isRefused(api.url));
    t.strictSame(await api.end(again), { code: 1, signal: null });
    t.equal((await countStates(db)).running, 1);
  });
}

const isRefused = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );
