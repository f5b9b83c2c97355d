import { randomBytes } from 'node:crypto';
import { type Db, deliveries, deliveryAttempts } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Context } from '../../apps/api/src/context.ts';
import { loadConfig } from '../../apps/api/src/lib/config/config.ts';
import { NO_TRACE } from '../../apps/api/src/lib/telemetry/tracing.ts';
import { recordEvents } from '../../apps/api/src/platform/events/outbox.ts';
import { inTransaction } from '../../apps/api/src/transaction.ts';
import { startReceiver } from '../../apps/api/test/support/servers/receiver.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { computeSignature, insertWebhooks } from '../../apps/api/test/support/webhooks.ts';
import { startApiProcess } from './api-process.ts';
import { insertPeople } from './due-tasks.ts';

/** Longer runs: KILLS=25 EVENTS=5000. */
const KILLS = Number(process.env.KILLS ?? 5);
const EVENTS = Number(process.env.EVENTS ?? 1000);
const LEASE_MS = 1500;
const WEBHOOKS = 5;
const BATCH = 20;

t.setTimeout(600_000);

t.test(
  `A process killed ${KILLS} times loses none of ${EVENTS} events and repeats deliveries under the same id`,
  async (t) => {
    const { db, url: databaseUrl } = await testDatabase(t);
    const receiver = await startReceiver(t);
    receiver.answer(() => ({ status: 200, delayMs: 20 + Math.random() * 60 }));
    const env = { ENCRYPTION_KEY: randomBytes(32).toString('base64'), RATE_LIMIT_MULTIPLIER: '1000' };
    const ctx = contextFor(db, env);
    const [userId = 0] = await insertPeople(db, 1);
    const urls = Array.from({ length: WEBHOOKS }, (_, n) => `${receiver.url}/${n}`);
    const hooks = new Map((await insertWebhooks(ctx, userId, urls)).map(({ id, secret }) => [id, secret]));
    const settings = { databaseUrl, aiUrl: 'offline', leaseMs: LEASE_MS, env };

    const shares = EVENTS / WEBHOOKS / (KILLS + 1);
    let written = 0;
    const write = async (upTo: number) => {
      while (written < upTo) {
        const count = Math.min(BATCH, upTo - written);
        const events = Array.from({ length: count }, (_, at) => ({
          kind: 'task.updated' as const,
          userId,
          data: { n: written + at },
        }));
        await inTransaction(ctx, async (tx) => recordEvents(tx, events));
        written += count;
      }
    };

    for (let kill = 1; kill <= KILLS; kill++) {
      const before = receiver.received.length;
      await write(Math.round(shares * kill));
      const api = await startApiProcess(t, settings);
      await until(() => receiver.open >= WEBHOOKS && receiver.received.length - before > 10 * (kill % 4));
      t.strictSame(await api.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
    }
    await write(EVENTS / WEBHOOKS);
    const api = await startApiProcess(t, settings);
    const total = written * WEBHOOKS;
    await until(() => isDone(db));

    const ids = new Map<string, string>();
    let repeated = 0;
    let broken = 0;
    for (const { headers, body } of receiver.received) {
      const id = String(headers['webhook-id']);
      const secret = hooks.get(String(headers['x-webhook-id'])) ?? '';
      const text = String(body);
      if (ids.has(id)) repeated += 1;
      if ((ids.get(id) ?? text) !== text || headers['x-delivery-attempt'] !== '1') broken += 1;
      ids.set(id, text);
      if (headers['x-webhook-signature'] !== computeSignature(secret, body)) broken += 1;
      if (!verifies(secret, text, headers as Record<string, string>)) broken += 1;
    }
    const seen = new Set([...ids.values()].map((text) => `${JSON.parse(text).webhookId} ${JSON.parse(text).data.n}`));
    t.comment(`${receiver.received.length} requests for ${total} deliveries: ${repeated} were sent twice`);
    t.equal(ids.size, total, 'no delivery was lost, and no other id was sent');
    t.equal(seen.size, total, 'each event arrived once under each webhook, or again under the same id');
    t.equal(broken, 0, 'each request verifies, and a repeated one is the same bytes');
    t.ok(repeated > 0, 'some deliveries were interrupted');
    t.equal(await db.$count(deliveries, sql`status <> 'delivered'`), 0);
    t.ok((await db.$count(deliveryAttempts)) >= 100);
    t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  },
);

/** The part of the context that writing events needs. */
function contextFor(db: Db, env: Record<string, string>): Context {
  const config = loadConfig({ NODE_ENV: 'test', CRON_SECRET: 'x', ADMIN_KEY: 'x', JWT_SECRET: 'x', ...env });
  const worker = { wakeDeliveries: () => {} };
  return { db, config, now: () => new Date(), worker, trace: NO_TRACE } as unknown as Context;
}

async function isDone(db: Db): Promise<boolean> {
  // Delivered ones are deleted once they leave the log.
  return (await db.$count(deliveries, sql`status in ('pending', 'sending')`)) === 0;
}

function verifies(secret: string, text: string, headers: Record<string, string>): boolean {
  try {
    // The library rejects old timestamps, so the signature that it would make is compared instead.
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    return headers['webhook-signature'] === new Webhook(secret).sign(headers['webhook-id'] ?? '', at, text);
  } catch {
    return false;
  }
}
