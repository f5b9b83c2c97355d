import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Db, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const PROCESSES = 8;
const POOL = 2;
/** All processes together have slots for 1200, and each person has more tasks than may run at once. */
const CONCURRENCY = 150;
const PEOPLE = 210;
const TASKS_EACH = 6;
const TASKS = PEOPLE * TASKS_EACH;
/** In this time each process looks at the queue more than once. */
const FULL_MS = 2500;
const SAMPLE_MS = 20;

t.setTimeout(300_000);

t.test(
  'Eight processes with two connections each race for 1,260 due tasks: never more than 1000 run, nor 5 of a person',
  async (t) => {
    const { url: databaseUrl } = await testDatabase(t);
    const { db, close } = connect(databaseUrl, { applicationName: 'test', deadlineMs: 30_000 });
    t.teardown(close);
    const ai = await startAiServer();
    t.teardown(ai.close);
    const released = Promise.withResolvers<object>();
    t.teardown(() => released.resolve({}));
    ai.answer(() => released.promise);
    const mostAtOnce = sample(t, db);
    const env = { DATABASE_POOL: String(POOL), EXECUTION_CONCURRENCY: String(CONCURRENCY) };
    const settings = { databaseUrl, aiUrl: ai.url, env };
    const apis: ApiProcess[] = [];
    // One after the other: together they would take too long on few cores.
    while (apis.length < PROCESSES) apis.push(await startApiProcess(t, settings));
    for (const { log } of apis) await until(() => log.some(({ msg }) => msg === 'started'));

    await insertDueTasks(db, { userIds: await insertPeople(db, PEOPLE), perUser: TASKS_EACH, at: new Date() });
    await Promise.all(apis.map((api) => api.tick({ wait: false })));
    await until(() => ai.requests.length >= 1000);
    await delay(FULL_MS);
    t.equal(ai.requests.length, 1000, 'as many calls are made as may run, although slots are free');
    t.strictSame(await countStates(db), { pending: TASKS - 1000, running: 1000, completed: 0, failed: 0 });

    released.resolve({});
    await until(async () => (await countStates(db)).completed === TASKS);
    const { running, ofPerson, connections } = await mostAtOnce();
    t.equal(running, 1000);
    t.equal(ofPerson, 5);
    t.ok(connections <= PROCESSES * (POOL + 1), `${connections} connections: the pools, and one each that listens`);

    t.strictSame(await findNotOnce(db), [], 'each task has one ledger row and one execution');
    const prompts = ai.requests.map(({ body }) => body.messages.at(-1)?.content);
    t.equal(prompts.length, TASKS, 'one request to the provider for each');
    t.equal(new Set(prompts).size, TASKS);
    t.strictSame(await findWrongCounters(db), []);
  },
);

/** Samples what runs and what is connected until the returned function is called, which resolves to the largest counts. */
function sample(t: Test, db: Db) {
  const most = { running: 0, ofPerson: 0, connections: 0 };
  let isStopped = false;
  const sampling = (async () => {
    while (!isStopped) {
      const [now] = await queryRows<typeof most>(db, COUNTS);
      for (const key of ['running', 'ofPerson', 'connections'] as const)
        most[key] = Math.max(most[key], now?.[key] ?? 0);
      await delay(SAMPLE_MS);
    }
  })();
  sampling.catch(() => {});
  const stop = async () => {
    isStopped = true;
    await sampling;
    return most;
  };
  t.teardown(stop);
  return stop;
}

const COUNTS = sql`
  with people as (select count(*)::int as runs from executions where status = 'running' group by user_id)
  select (select coalesce(sum(runs), 0)::int from people) as running, (select coalesce(max(runs), 0) from people) as of_person,
    (select count(*)::int from pg_stat_activity where datname = current_database() and application_name = 'carillon') as connections`;
