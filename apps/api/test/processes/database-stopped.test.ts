import { setTimeout as delay } from 'node:timers/promises';
import { settings, tasks } from '@carillon/db';
import t from 'tap';
import { startApiProcess } from './api-process.ts';
import { type Answer, ask, JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';
import { ownPostgres } from './own-postgres.ts';

const PROMISE_MS = 5000;
/** `pnpm bench outage` does the same for a minute. */
const AWAY_MS = 8000;

t.setTimeout(120_000);

t.test('a database that is stopped under load costs no acknowledged write and no exit', async (t) => {
  const postgres = await ownPostgres(t);
  await postgres.db.update(settings).set({ maxTasksPerUser: 100_000 });
  const env = { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '100000' };
  const api = await startApiProcess(t, { databaseUrl: postgres.url, aiUrl: 'offline', env });
  const tokens = await signInAll(postgres.db, await insertPeople(postgres.db, 60));

  const answers: (Answer & { at: number })[] = [];
  let stopping = false;
  const load = tokens.slice(0, 12).map(async (_, first) => {
    for (let turn = 0; !stopping; turn++) {
      const token = tokens[(first + turn * 12) % tokens.length] ?? '';
      answers.push({ ...(await createTask(api.url, token)), at: performance.now() });
      await delay(15);
    }
  });
  await delay(1500);
  await postgres.stop();
  const stoppedAt = performance.now();
  await delay(AWAY_MS);
  const startedAt = performance.now();
  await postgres.start();
  const backAt = performance.now();
  await delay(3000);
  stopping = true;
  await Promise.all(load);

  const during = answers.filter(({ at, ms }) => at - ms > stoppedAt && at < startedAt);
  t.ok(during.length > 50, `${during.length} requests came meanwhile`);
  for (const { status, body } of during) {
    t.match({ status, body }, { status: 503, body: { success: false, error: 'Service unavailable' } });
  }
  const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)));
  t.ok(slowest < PROMISE_MS, `the slowest of ${answers.length} answers took ${slowest} ms`);
  const unexpected = answers.filter(({ status }) => ![201, 402, 503].includes(status));
  t.same(unexpected, [], 'nobody got another answer, or none');

  const resumed = answers.find(({ at, status }) => at > startedAt && status === 201);
  const resumedMs = Math.round((resumed?.at ?? Number.POSITIVE_INFINITY) - backAt);
  t.ok(resumedMs < PROMISE_MS, `tasks are taken again ${resumedMs} ms after the database is back`);

  const acknowledged = answers.filter(({ status }) => status === 201).map(({ body }) => Number(body.taskId));
  const stored = new Set((await postgres.db.select({ id: tasks.id }).from(tasks)).map(({ id }) => id));
  t.ok(acknowledged.length > 100, `${acknowledged.length} tasks were acknowledged`);
  t.same(
    acknowledged.filter((id) => !stored.has(id)),
    [],
    'and all of them are there',
  );
  t.equal(new Set(acknowledged).size, acknowledged.length);
  t.ok(api.isAlive());
});

const createTask = (url: string, token: string) =>
  ask(`${url}/api/agent/create-task`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Written under load',
      prompt: 'Name a moon of Saturn.',
      scheduledFor: '2090-01-01T00:00:00.000Z',
      recurrence: 'daily',
      timezone: 'UTC',
    }),
  });
