import { randomBytes, randomUUID } from 'node:crypto';
import { type Db, deliveries, deliveryAttempts, endpoints, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../apps/api/src/context.ts';
import { loadConfig } from '../../apps/api/src/lib/config/config.ts';
import { startReceiver } from '../../apps/api/test/support/servers/receiver.ts';
import { insertTestChannel } from '../../apps/api/test/support/test-channels.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { insertPeople } from './due-tasks.ts';

/** Fewer than the log of a channel keeps, with their retries. */
const EACH = 50;
const LEASE_MS = 1500;

t.setTimeout(120_000);

t.test('A process that is killed loses no message of a channel, whatever its target answers', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const receiver = await startReceiver(t);
  const accepted = new Map<string, number>();
  const requests = new Map<string, number>();
  receiver.answer(({ path, body }) => {
    const [key = 'digest'] = /N\d+Z/.exec(String(body)) ?? [];
    const request = (requests.get(path) ?? 0) + 1;
    requests.set(path, request);
    if (path === '/gone') return 403;
    if (path === '/broken' && request % 4 === 0) return request % 8 === 0 ? 'cut' : 500;
    if (path === '/limited' && request === 9) return { status: 429, headers: { 'retry-after': '1' } };
    accepted.set(key, (accepted.get(key) ?? 0) + 1);
    return { status: 200, delayMs: 50 + Math.random() * 100 };
  });
  const env = {
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_MULTIPLIER: '1000',
    WEBHOOK_RETRY_DELAYS_MS: `0${',100'.repeat(9)}`,
  };
  const config = loadConfig({ NODE_ENV: 'test', CRON_SECRET: 'x', ADMIN_KEY: 'x', JWT_SECRET: 'x', ...env });
  const ctx = { db, config, now: () => new Date() } as unknown as Context;
  const [userId = 0] = await insertPeople(db, 1);
  for (const name of ['fine', 'quick', 'broken', 'limited', 'gone', 'digest']) {
    const pacing = name === 'digest' ? { minIntervalMinutes: 60 } : {};
    const channel = { kind: 'ntfy', name, ...pacing } as const;
    await insertTestChannel(ctx, userId, `${receiver.url}/${name}`, channel, { topic: 'news' });
  }
  await insertMessages(db);

  const settings = { databaseUrl, aiUrl: 'offline', leaseMs: LEASE_MS, env };
  const [killed, last] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  await until(() => accepted.size > 40 && receiver.open >= 5);
  t.strictSame(await killed.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
  // Those of the other process are among them.
  const cut = await db.$count(deliveries, eq(deliveries.status, 'sending'));
  await until(async () => (await db.$count(deliveries, sql`status in ('pending', 'sending', 'held')`)) === 0);
  t.strictSame(await last.end('SIGTERM'), { code: 0, signal: null });

  const rows = await queryRows<{
    id: string;
    name: string;
    status: string;
    attempt: number;
    logged: number;
    payload: string;
  }>(
    db,
    sql`select d.id, h.name, d.status, d.attempt, d.payload,
        (select count(*)::int from delivery_attempts a where a.delivery_id = d.id) as logged
      from deliveries d join endpoints h on h.id = d.webhook_id`,
  );
  t.equal(rows.length, 6 * EACH + 1, 'each message, and the digest of one channel');
  t.same(
    rows.filter(({ attempt, logged }) => attempt !== logged),
    [],
    'each attempt is in the log',
  );
  const countOf = (name: string, status: string) =>
    rows.filter((row) => row.name === name && row.status === status).length;
  for (const name of ['fine', 'quick', 'broken', 'limited']) t.equal(countOf(name, 'delivered'), EACH, name);
  t.equal(countOf('gone', 'failed'), EACH);
  t.same([countOf('digest', 'digested'), countOf('digest', 'delivered')], [EACH, 1]);
  const keys = rows
    .filter(({ name, status }) => status === 'delivered' && name !== 'digest')
    .map(({ payload }) => /N\d+Z/.exec(payload)?.[0] ?? '');
  t.same(
    keys.filter((key) => !accepted.has(key)),
    [],
    'what is delivered has arrived',
  );
  const repeated = [...accepted.values()].reduce((sum, count) => sum + count - 1, 0);
  t.comment(`${repeated} of ${cut} messages that a kill cut were sent twice`);
  t.ok(repeated <= cut);
  t.same(await db.select({ name: endpoints.name }).from(endpoints).where(eq(endpoints.status, 'failed')), [
    { name: 'gone' },
  ]);
  t.ok((await db.$count(deliveryAttempts)) > 4 * EACH);
});

/** As the outbox writes them. */
async function insertMessages(db: Db): Promise<void> {
  const channels = await db.select().from(endpoints);
  let n = 0;
  for (const { id: webhookId, name } of channels) {
    const now = new Date();
    const isHeld = name === 'digest';
    const rows = Array.from({ length: EACH }, () => {
      n += 1;
      const data = { task: { id: 1, name: `N${n}Z` }, execution: { id: n, result: 'Sunny.' } };
      const event = 'execution.completed';
      const payload = JSON.stringify({ event, timestamp: now.toISOString(), data });
      return { id: randomUUID(), webhookId, event, payload, requestId: 'test', nextAttemptAt: now, createdAt: now };
    });
    const state = isHeld ? { status: 'held' as const } : { queuedAt: now };
    await db.insert(deliveries).values(rows.map((row) => ({ ...row, ...state })));
  }
}
