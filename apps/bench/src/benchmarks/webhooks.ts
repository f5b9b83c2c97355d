import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { resolveProgram, SERVER_CORE, startProcess } from '../../../../test/system/processes.ts';
import { type Receiver, startReceiver } from '../../../../test/system/servers/receiver.ts';
import { insertUsers, postAs, type User } from '../../../../test/system/users.ts';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../benchmark.ts';
import { prepareFreshInstallation } from '../environment/fresh-installation.ts';
import { connectDatabase } from '../environment/installation.ts';
import { formatNumber } from '../statistics.ts';
import { vacuumAndCheckpoint } from './due-tasks.ts';

const WEBHOOKS_EACH = 10;
const TIMEOUT_MS = 120_000;
const AIMS = { 50: 0.8, 500: 0.6 } as const;

/** Production refuses loopback and plain HTTP. */
const WEBHOOK_ENV = { NODE_ENV: 'development', EGRESS_ALLOW: '127.0.0.0/8' } as const;

export const webhooks: Benchmark = {
  about: '10,000 due deliveries to 200 webhooks, signed and logged, with a concurrency of 50 and of 500',
  async run(stack, environment) {
    const receiver = await startReceiver(stack, environment.server.folder);
    const rows: Comparison[] = [];
    for (const concurrency of environment.quick ? ([50] as const) : ([50, 500] as const))
      rows.push(await measure(environment, receiver, concurrency));
    return rows;
  },
};

async function measure(environment: Environment, receiver: Receiver, concurrency: 50 | 500): Promise<Comparison> {
  await using stack = new AsyncDisposableStack();
  const { server } = environment;
  const [users, each] = environment.quick ? [2, 2] : [20, 50];
  const count = users * WEBHOOKS_EACH * each;
  const env = { ...WEBHOOK_ENV, WEBHOOK_CONCURRENCY: String(concurrency) };
  const carillon = await prepareFreshInstallation(stack, environment, { apiEnv: env, scheduler: false });
  const { db, jwtSecret } = carillon;
  const databaseUrl = await server.newDatabase();
  const baselineDb = connectDatabase(stack, databaseUrl);
  const urls = Array.from({ length: WEBHOOKS_EACH }, (_, n) => `${receiver.url}/${n}`);
  const subscribers = await insertUsers(db, { count: users, jwtSecret });
  await carillon.measure(({ apiUrl }) => subscribe(apiUrl, subscribers, urls));
  await insertUsers(baselineDb, { count: users, jwtSecret });
  await insertWebhooks(baselineDb, urls);
  const rate = (ms: number) => (count / ms) * 1000;
  const results = await measureInRounds(
    environment.rounds,
    {
      carillon: () =>
        carillon.measure(async () => {
          await vacuumAndCheckpoint(db);
          await receiver.takeCounts();
          await insertDueDeliveries(db, each);
          return rate(await waitForArrivals(receiver, count));
        }),
      outbox: async () => {
        await insertDueDeliveries(baselineDb, each);
        await vacuumAndCheckpoint(baselineDb);
        await receiver.takeCounts();
        const { stop } = await startProcess(stack, {
          name: `outbox-${concurrency}`,
          file: resolveProgram('bench/src/baselines/queues/outbox-main.ts'),
          folder: server.folder,
          core: SERVER_CORE,
          env: { DATABASE_URL: databaseUrl, RECEIVER: receiver.url, CONCURRENCY: String(concurrency) },
          ready: /^(done)$/m,
          timeoutMs: TIMEOUT_MS,
        });
        await stop();
        return rate(await waitForArrivals(receiver, count));
      },
    },
    (figure) => `${formatNumber(figure)} deliveries/s with a concurrency of ${concurrency}`,
  );
  return {
    what: `deliveries with a concurrency of ${concurrency}`,
    unit: 'deliveries/s',
    values: results.carillon,
    baseline: { name: 'hand-written outbox with batched SQL and undici', values: results.outbox },
    aim: { atLeast: AIMS[concurrency] },
    note: 'measured from the first to the last arrival at the receiver, with new processes in each round; the outbox signs, sends with undici, and claims and logs up to 200 deliveries per statement, without limits per webhook, retries, recovery and checks of the address',
  };
}

/** Inserts `each` due deliveries for every webhook. */
async function insertDueDeliveries(db: Db, each: number): Promise<void> {
  await db.execute(sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
    select gen_random_uuid(), h.id, 'task.updated', json_build_object('event', 'task.updated', 'timestamp', now(),
      'webhookId', h.id, 'userId', h.user_id, 'data', json_build_object('task', json_build_object('id', n, 'name',
      'Morning sentence', 'updatedAt', now()), 'changes', json_build_object('name', json_build_object('from', 'a', 'to',
      'b')))), 'bench', now(), now(), now()
    from endpoints h, generate_series(1, ${each}::int) n`);
}

/** Returns the milliseconds from the first to the last arrival. */
async function waitForArrivals(receiver: Receiver, expected: number): Promise<number> {
  const deadline = performance.now() + TIMEOUT_MS;
  let count = 0;
  let firstAt = 0;
  while (performance.now() < deadline) {
    const counts = await receiver.takeCounts();
    firstAt ||= counts.firstAt;
    count += counts.count;
    if (count >= expected) return Math.max(1, counts.lastAt - firstAt);
    await delay(200);
  }
  throw new Error(`Only ${count} of ${expected} deliveries arrived.`);
}

/** Creates the webhooks through the API, which encrypts their secrets. */
export async function subscribe(apiUrl: string, users: readonly User[], urls: readonly string[]): Promise<void> {
  for (const user of users) {
    for (const url of urls) await postAs(user, `${apiUrl}/api/webhooks`, { url, events: ['task.created'] });
  }
}

/** Inserts the same webhooks for the baseline, which has its own secret. */
export async function insertWebhooks(db: Db, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    await db.execute(sql`
      insert into endpoints (id, user_id, url, secret_encrypted, secret_lookup, events, last_attempt_ok, created_at, updated_at)
      select k, id, ${url}, '', 'none:' || k, '{task.created}', true, now(), now()
      from users cross join lateral (select gen_random_uuid() as k where users.id > 0) u`);
  }
}
