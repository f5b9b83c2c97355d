import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Db, rows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Client, signUp } from './client.ts';
import { printFigures } from './figures.ts';
import { type Installation, install } from './installation.ts';
import type { Bench } from './main.ts';
import { startProcess } from './processes.ts';

const DELIVERIES = 10_000;
const CONCURRENCIES = [50, 500];
const PEOPLE = 20;
const PER_PERSON = 10;
const EVENTS_PER_SECOND = 20;
const SECONDS = 60;
const PATIENCE_MS = 120_000;

/** Loopback and plain http, which production refuses; and no limit in the way. */
const API_ENV = { NODE_ENV: 'development', EGRESS_ALLOW: '127.0.0.0/8', RATE_LIMIT_MULTIPLIER: '100000' };

interface Receiver {
  url: string;
  folder: string;
  taken(): Promise<{ count: number; firstAt: number; lastAt: number; agesMs: number[] }>;
}

/** How many deliveries a process makes, beside a plain loop, and whether hanging receivers delay the others. */
export const webhooks: Bench = {
  about: `${DELIVERIES} deliveries at ${CONCURRENCIES.join(' and ')} at once beside a plain undici loop; 100 hanging receivers`,
  async run(stack) {
    for (const concurrency of CONCURRENCIES) {
      await using own = new AsyncDisposableStack();
      const installation = await install(own, { apiEnv: { ...API_ENV, WEBHOOK_CONCURRENCY: String(concurrency) } });
      const receiver = await startReceiver(own, installation);
      await subscribe(installation, `${receiver.url}/x`, `${receiver.url}/y`);
      const carillon = await drain(installation.db, receiver);
      const [sample] = await rows<{ payload: string }>(installation.db, sql`select payload from deliveries limit 1`);
      const loop = await plainLoop(own, receiver, concurrency, sample?.payload ?? '{}');
      console.log(
        `${concurrency} at once: ${perSecond(carillon)} deliveries a second; a plain undici loop ${perSecond(loop)} POSTs a second`,
      );
    }
    await hangingReceivers(stack);
  },
};

const perSecond = (ms: number) => Math.round((DELIVERIES / ms) * 1000);

async function startReceiver(stack: AsyncDisposableStack, { folder }: Installation): Promise<Receiver> {
  const file = fileURLToPath(new URL('webhook-receiver-main.ts', import.meta.url));
  const { ready: url } = await startProcess(stack, {
    ...{ name: 'receiver', file, folder, env: {} },
    ready: /^ready at (\S+)$/m,
  });
  return { url, folder, taken: async () => (await fetch(url)).json() as ReturnType<Receiver['taken']> };
}

/** People with ten webhooks each, half at either address. */
async function subscribe({ apiUrl, db }: Installation, one: string, other: string): Promise<Client[]> {
  const people: Client[] = [];
  for (let n = 0; n < PEOPLE; n++) {
    const person = await signUp(apiUrl, db);
    for (let at = 0; at < PER_PERSON; at++) {
      const url = `${at % 2 === 0 ? one : other}/${n}-${at}`;
      await person.post('/api/webhooks', { url, events: ['task.created'] });
    }
    people.push(person);
  }
  return people;
}

/** Milliseconds from the first to the last of deliveries that were all due together. */
async function drain(db: Db, receiver: Receiver): Promise<number> {
  await receiver.taken();
  await db.execute(sql`
    with data as (
      select h.id, h.user_id, n from webhooks h, generate_series(1, ${DELIVERIES / (PEOPLE * PER_PERSON)}::int) n
    )
    insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
    select gen_random_uuid(), id, 'task.updated', json_build_object('event', 'task.updated', 'timestamp', now(),
      'webhookId', id, 'userId', user_id, 'data', json_build_object('task', json_build_object('id', n, 'name',
      'Morning sentence', 'updatedAt', now()), 'changes', json_build_object('name', json_build_object('from', 'a', 'to',
      'b')))), 'bench', now(), now(), now() from data`);
  const deadline = performance.now() + PATIENCE_MS;
  let count = 0;
  let firstAt = 0;
  while (performance.now() < deadline) {
    await delay(200);
    const taken = await receiver.taken();
    firstAt ||= taken.firstAt;
    count += taken.count;
    if (count >= DELIVERIES) return taken.lastAt - firstAt;
  }
  throw new Error(`Only ${count} of ${DELIVERIES} deliveries arrived.`);
}

async function plainLoop(stack: AsyncDisposableStack, { url, folder }: Receiver, concurrency: number, body: string) {
  const file = fileURLToPath(new URL('undici-loop-main.ts', import.meta.url));
  const env = { RECEIVER: url, COUNT: String(DELIVERIES), CONCURRENCY: String(concurrency), BODY: body };
  const { ready } = await startProcess(stack, {
    ...{ name: `loop-${concurrency}`, file, folder, env },
    ready: /^done in (\d+) ms$/m,
  });
  return Number(ready);
}

/** Each event goes to 5 receivers that never answer and to 5 that do, with the settings that everybody has. */
async function hangingReceivers(stack: AsyncDisposableStack) {
  const installation = await install(stack, { apiEnv: { ...API_ENV } });
  const receiver = await startReceiver(stack, installation);
  const people = await subscribe(installation, `${receiver.url}/hang`, `${receiver.url}/timed`);
  const events = EVENTS_PER_SECOND * SECONDS;
  console.log(`${events} events, ${EVENTS_PER_SECOND} a second, each to 5 hanging and 5 healthy receivers`);
  const startedAt = performance.now();
  const posts: Promise<unknown>[] = [];
  for (let n = 0; n < events; n++) {
    const person = people[n % people.length] as Client;
    posts.push(person.post('/api/agent/create-task', { ...TASK, name: `Task ${n}` }));
    await delay(Math.max(0, startedAt + ((n + 1) * 1000) / EVENTS_PER_SECOND - performance.now()));
  }
  await Promise.all(posts);
  await delay(3000);
  const { agesMs } = await receiver.taken();
  const [row] = await rows<{ sending: number }>(
    installation.db,
    sql`select count(*)::int as sending from deliveries where status = 'sending'`,
  );
  console.log(`${agesMs.length} of ${(events * PER_PERSON) / 2} arrived; ${row?.sending} hang`);
  printFigures({ 'from event to receipt (ms)': agesMs });
}

const TASK = {
  prompt: 'Write one sentence that begins a working day well.',
  scheduledFor: '2099-01-01T07:30:00Z',
  recurrence: 'once',
  timezone: 'UTC',
};
