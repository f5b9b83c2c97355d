import { setTimeout as delay } from 'node:timers/promises';
import { Carillon } from '@carillon/client/source';
import { events, queryRows, settings, tasks } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { asc, sql } from 'drizzle-orm';
import t from 'tap';
import { until } from '../../../apps/api/test/support/until.ts';
import { startApiProcess } from '../../processes/api-process.ts';
import { JWT_SECRET, signInAll } from '../../processes/clients.ts';
import { insertPeople } from '../../processes/due-tasks.ts';

const WRITERS = 3;
const EVENTS = 30;
const TASK = {
  prompt: 'Name a moon of Saturn.',
  scheduledFor: '2099-11-20T11:00:00.000Z',
  recurrence: 'once',
  timezone: 'UTC',
} as const;

/** Processes outlive a test, for the next one. */
const root = t;
// Starts take long on a busy machine.
t.setTimeout(180_000);
const { db, url: databaseUrl } = await testDatabase(t);
await db.update(settings).set({ maxTasksPerUser: 100_000 });
const start = () =>
  startApiProcess(root, {
    databaseUrl,
    aiUrl: 'offline',
    env: { JWT_SECRET, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), RATE_LIMIT_MULTIPLIER: '1000' },
  });
let api = await start();
const [apiKey = ''] = await signInAll(db, await insertPeople(db, 1));

/** Reaches the process that runs, as behind a proxy. */
const baseUrl = 'http://carillon.example.com';
const carillon = new Carillon({
  baseUrl,
  apiKey,
  maxRetries: 100,
  fetch: (input, init) => fetch(String(input).replace(baseUrl, api.url), init),
});

const abort = new AbortController();
const streamed: string[] = [];
const reading = (async () => {
  for await (const { id } of carillon.events.stream({ after: '0', signal: abort.signal })) streamed.push(id);
})();

t.test('Creations that are interrupted by a kill are repeated by the client, and create one task each', async (t) => {
  const created: number[] = [];
  let isStopping = false;
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; !isStopping; n++) {
        const { taskId } = await carillon.tasks.create({ ...TASK, name: `Task ${n} of writer ${writer}` });
        created.push(taskId);
        await delay(10);
        // The stream may reconnect later than the writers, which would use up the user's quota meanwhile.
        await until(() => isStopping || created.length < streamed.length + EVENTS);
      }
    }),
  );
  await until(() => streamed.length >= EVENTS);
  await api.end('SIGKILL');
  api = await start();
  const before = streamed.length;
  await until(() => streamed.length >= before + EVENTS);
  isStopping = true;
  await writing;
  const stored = await db.select({ id: tasks.id }).from(tasks).orderBy(asc(tasks.id));
  t.same(
    created.toSorted((one, other) => one - other),
    stored.map(({ id }) => id),
  );
});

t.test('A creation whose process is killed between the commit and the answer creates one task', async (t) => {
  const count = await db.$count(tasks);
  // The commit takes so long that the process is killed before it learns of it.
  await db.execute(sql`
    create function wait_a_moment() returns trigger language plpgsql as $$
      begin perform pg_sleep(1); return null; end $$`);
  await db.execute(sql`
    create constraint trigger wait_at_commit after update on idempotency_keys
      deferrable initially deferred for each row execute function wait_a_moment()`);
  const creating = carillon.tasks.create({ ...TASK, name: 'Committed' }).withResponse();
  await until(async () => {
    const [row] = await queryRows<{ n: number }>(
      db,
      sql`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    );
    return row?.n === 1;
  });
  await api.end('SIGKILL');
  api = await start();
  const { status, headers, body } = await creating;
  t.match({ status, replayed: headers.get('idempotent-replayed') }, { status: 201, replayed: 'true' });
  t.equal(await db.$count(tasks), count + 1);
  t.equal(await db.$count(tasks, sql`id = ${body.taskId}`), 1);
  await db.execute(sql`drop function wait_a_moment cascade`);
});

t.test('A stream of the client has each event exactly once, in order, across killed processes', async (t) => {
  const logged = await db.select({ id: events.id }).from(events).orderBy(asc(events.id));
  await until(() => streamed.length >= logged.length);
  await carillon.tasks.create({ ...TASK, name: 'The last one' });
  await until(() => streamed.length > logged.length);
  abort.abort();
  await reading;
  t.same(
    streamed,
    Array.from({ length: logged.length + 1 }, (_, n) => String(n + 1)),
  );
  t.equal(streamed.length, await db.$count(tasks), 'one event for each task');
});
