import { setTimeout as delay } from 'node:timers/promises';
import { idempotencyKeys, queryRows, tasks } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { insertProposal } from '../../apps/api/test/support/proposals.ts';
import { TASK } from '../../apps/api/test/support/tasks.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';

const ROUNDS = 3;
const PER_ROUND = 14;
const AT_ONCE = 100;
const DRAFT = { ...TASK, scheduledFor: '2099-11-20T11:00:00.000Z' };

/** Processes outlive a test, for the next one. */
const root = t;
const { db, url: databaseUrl } = await testDatabase(t);
const settings = {
  databaseUrl,
  aiUrl: 'offline',
  env: { JWT_SECRET, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), RATE_LIMIT_MULTIPLIER: '1000' },
};
const [userId = 0] = await insertPeople(db, 1);
const [token = ''] = await signInAll(db, [userId]);
// Starts take long on a busy machine.
t.setTimeout(300_000);
let first: ApiProcess | undefined;
t.beforeEach(async () => {
  await db.delete(idempotencyKeys);
  await db.delete(tasks);
});

interface Answer {
  status: number;
  body: string;
  isReplayed: boolean;
}

async function isCommitting(): Promise<boolean> {
  const [row] = await queryRows<{ n: number }>(
    db,
    sql`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return row?.n === 1;
}

/** Null without an answer. */
async function createTask(url: string, key: string): Promise<Answer | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
  const body = JSON.stringify(DRAFT);
  try {
    const response = await fetch(`${url}/api/agent/create-task`, { method: 'POST', headers, body });
    const isReplayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, body: await response.text(), isReplayed };
  } catch {
    return null;
  }
}

t.test('Requests repeated after kills at random points run once, and each is answered', async (t) => {
  const answers = new Map<string, Answer>();
  let interrupted = 0;
  let conflicts = 0;
  let api: ApiProcess = await startApiProcess(root, settings);
  const send = async (key: string) => {
    const answer = await createTask(api.url, key);
    if (answer?.status === 201) answers.set(key, answer);
    else if (answer === null) interrupted += 1;
    else if (answer.status === 409) conflicts += 1;
    else throw new Error(`${answer.status} ${answer.body}`);
  };
  const keys: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await createTask(api.url, `warm-${round}`);
    const added = Array.from({ length: PER_ROUND }, (_, n) => `round-${round}-${n}`);
    keys.push(...added);
    const before = answers.size;
    const sent = Promise.all(added.map(send));
    // The kill comes at varying moments: before the first answer, or between answers.
    const answered = Math.floor(Math.random() * PER_ROUND);
    await until(() => answers.size >= before + answered);
    await delay(Math.random() * 10);
    await api.end('SIGKILL');
    await sent;
    api = await startApiProcess(root, settings);
  }
  const repeatedAt = performance.now();
  await until(async () => {
    await Promise.all(keys.filter((key) => !answers.has(key)).map(send));
    return answers.size === keys.length;
  }, 20_000);
  t.ok(performance.now() - repeatedAt < 15_000, 'no claim of a killed process lasts until its lease ends');
  const found = await db.select({ id: tasks.id }).from(tasks);
  t.equal(found.length, keys.length + ROUNDS, 'one task for each key');
  const ids = [...answers.values()].map(({ body }) => JSON.parse(body).taskId);
  t.equal(new Set(ids).size, keys.length, 'and one answer for each task');
  for (const [key, { body }] of [...answers].slice(0, 5)) {
    const again = await createTask(api.url, key);
    t.same(again, { status: 201, body, isReplayed: true });
  }
  const replayed = [...answers.values()].filter(({ isReplayed }) => isReplayed).length;
  t.comment({ keys: keys.length, interrupted, replayed, conflicts });
  first = api;
});

t.test('A process killed between the commit and the answer runs the request once', async (t) => {
  const api = first ?? (await startApiProcess(root, settings));
  await createTask(api.url, 'warm');
  // The commit takes so long that the process is killed before it learns of it.
  await db.execute(sql`
    create function wait_a_moment() returns trigger language plpgsql as $$
      begin perform pg_sleep(1); return null; end $$`);
  await db.execute(sql`
    create constraint trigger wait_at_commit after update on idempotency_keys
      deferrable initially deferred for each row execute function wait_a_moment()`);
  const sent = createTask(api.url, 'committed');
  await until(isCommitting);
  await api.end('SIGKILL');
  t.equal(await sent, null);
  first = await startApiProcess(root, settings);
  let again: Answer | null = null;
  await until(async () => {
    again = await createTask(first?.url ?? '', 'committed');
    return again?.status !== 409;
  });
  t.match(again, { status: 201, isReplayed: true });
  t.equal(await db.$count(tasks), 2);
  await db.execute(sql`drop function wait_a_moment cascade`);
});

t.test('A confirmation that was committed before its process was killed is 409 with the task', async (t) => {
  const api = first ?? (await startApiProcess(root, settings));
  const proposalId = await insertProposal({ db, now: () => new Date() }, { id: userId }, DRAFT);
  const confirm = async (url: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return await fetch(`${url}/api/agent/confirm-task`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ proposalId }),
    });
  };
  await db.execute(sql`
    create function wait_a_moment() returns trigger language plpgsql as $$
      begin perform pg_sleep(1); return null; end $$`);
  await db.execute(sql`
    create constraint trigger wait_at_commit after update on task_proposals
      deferrable initially deferred for each row execute function wait_a_moment()`);
  const sent = confirm(api.url).catch(() => null);
  await until(isCommitting);
  await api.end('SIGKILL');
  t.equal(await sent, null);
  first = await startApiProcess(root, settings);
  const again = await confirm(first.url);
  t.equal(again.status, 409);
  const created = await db.select({ id: tasks.id }).from(tasks);
  t.equal(created.length, 1);
  t.match(await again.json(), { details: { taskId: created[0]?.id } });
  await db.execute(sql`drop function wait_a_moment cascade`);
});

t.test(
  `Of ${AT_ONCE} equal requests at once over two processes one creates, the others get its answer or 409`,
  async (t) => {
    const one = first ?? (await startApiProcess(t, settings));
    const two = await startApiProcess(t, settings);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => createTask((n % 2 ? one : two).url, 'the-same')),
    );
    const created = answers.filter((answer) => answer?.status === 201);
    const running = answers.filter((answer) => answer?.status === 409);
    t.equal(created.length + running.length, AT_ONCE);
    t.equal(new Set(created.map((answer) => answer?.body)).size, 1);
    t.equal(created.filter((answer) => !answer?.isReplayed).length, 1, 'one was not replayed');
    t.equal(await db.$count(tasks), 1);
    t.comment({ created: created.length, running: running.length });
    await until(async () => (await createTask(one.url, 'the-same'))?.status === 201);
  },
);
