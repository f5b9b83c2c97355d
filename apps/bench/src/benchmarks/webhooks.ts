import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Bench, Environment } from '../bench.ts';
import { type Comparison, inRounds } from '../comparison.ts';
import { SERVER_CORE } from '../environment/cores.ts';
import { connectPatiently, install } from '../environment/installation.ts';
import { addPeople } from '../environment/people.ts';
import { programAt, startProcess } from '../environment/processes.ts';
import { type Receiver, startReceiver } from '../environment/servers/receiver.ts';
import { addWebhooks, subscribe } from '../environment/webhooks.ts';
import { digits } from '../statistics.ts';
import { settle } from './due-tasks.ts';

/** Of each person. */
const WEBHOOKS = 10;
const PATIENCE_MS = 120_000;
const AIMS = { 50: 0.8, 500: 0.6 } as const;

/** Loopback and plain http, which production refuses; and no limit in the way. */
export const RECEIVABLE = { NODE_ENV: 'development', EGRESS_ALLOW: '127.0.0.0/8' } as const;

/** How many deliveries a process makes. */
export const webhooks: Bench = {
  about: '10,000 deliveries that are due together, to 200 webhooks, signed and logged, at 50 and at 500 at once',
  async run(stack, environment) {
    const receiver = await startReceiver(stack, environment.server.folder);
    const lines: Comparison[] = [];
    for (const concurrency of environment.quick ? ([50] as const) : ([50, 500] as const))
      lines.push(await atOnce(environment, receiver, concurrency));
    return lines;
  },
};

async function atOnce(environment: Environment, receiver: Receiver, concurrency: 50 | 500): Promise<Comparison> {
  await using stack = new AsyncDisposableStack();
  const { server } = environment;
  const [people, each] = environment.quick ? [2, 2] : [20, 50];
  const count = people * WEBHOOKS * each;
  const env = { ...RECEIVABLE, WEBHOOK_CONCURRENCY: String(concurrency) };
  const { db, apiUrl, jwtSecret } = await install(stack, environment, { apiEnv: env, scheduler: false });
  const databaseUrl = await server.newDatabase();
  const other = connectPatiently(stack, databaseUrl);
  const urls = Array.from({ length: WEBHOOKS }, (_, n) => `${receiver.url}/${n}`);
  await subscribe(apiUrl, await addPeople(db, { count: people, jwtSecret }), urls);
  await addPeople(other, { count: people, jwtSecret });
  await addWebhooks(other, urls);
  const rate = (ms: number) => (count / ms) * 1000;
  const results = await inRounds(
    environment.rounds,
    {
      carillon: async () => {
        await settle(db);
        await receiver.taken();
        await queue(db, each);
        return rate(await arrived(receiver, count));
      },
      outbox: async () => {
        await queue(other, each);
        await settle(other);
        await receiver.taken();
        const { end } = await startProcess(stack, {
          name: `outbox-${concurrency}`,
          file: programAt('baselines/queues/outbox-main.ts'),
          folder: server.folder,
          core: SERVER_CORE,
          env: { DATABASE_URL: databaseUrl, RECEIVER: receiver.url, CONCURRENCY: String(concurrency) },
          ready: /^(done)$/m,
          patienceMs: PATIENCE_MS,
        });
        await end();
        return rate(await arrived(receiver, count));
      },
    },
    (figure) => `${digits(figure)} deliveries/s at ${concurrency} at once`,
  );
  return {
    what: `deliveries at ${concurrency} at once`,
    unit: 'deliveries/s',
    values: results.carillon,
    baseline: { name: 'outbox row, undici POST and log row in batched SQL', values: results.outbox },
    aim: { atLeast: AIMS[concurrency] },
    note: 'from the first to the last arrival at the receiver',
  };
}

/** Deliveries that are due at once, `each` for every webhook. */
async function queue(db: Db, each: number): Promise<void> {
  await db.execute(sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
    select gen_random_uuid(), h.id, 'task.updated', json_build_object('event', 'task.updated', 'timestamp', now(),
      'webhookId', h.id, 'userId', h.user_id, 'data', json_build_object('task', json_build_object('id', n, 'name',
      'Morning sentence', 'updatedAt', now()), 'changes', json_build_object('name', json_build_object('from', 'a', 'to',
      'b')))), 'bench', now(), now(), now()
    from webhooks h, generate_series(1, ${each}::int) n`);
}

/** Milliseconds from the first to the last arrival, once all have come. */
async function arrived(receiver: Receiver, expected: number): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  let count = 0;
  let firstAt = 0;
  while (performance.now() < deadline) {
    const taken = await receiver.taken();
    firstAt ||= taken.firstAt;
    count += taken.count;
    if (count >= expected) return Math.max(1, taken.lastAt - firstAt);
    await delay(200);
  }
  throw new Error(`Only ${count} of ${expected} deliveries arrived.`);
}
