import { setTimeout as delay } from 'node:timers/promises';
import { eventPositions, settings, tasks } from '@carillon/db';
import t from 'tap';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { type Answer, ask, JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';
import { readWithInterruptions } from './event-readers.ts';
import { ownPostgres } from './own-postgres.ts';

const MAX_ANSWER_MS = 5000;
/** Requests that are answered before, during and after the outage. */
const BEFORE = 200;
const DURING = 400;
const AFTER = 200;
/** Users with live streams, two of each. */
const READING_USERS = 4;

t.setTimeout(120_000);

t.test(
  'A database that is stopped under load costs no acknowledged write, no event of a stream and no exit',
  async (t) => {
    const postgres = await ownPostgres(t);
    await postgres.db.update(settings).set({ maxTasksPerUser: 100_000 });
    const env = { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '100000' };
    const api = await startApiProcess(t, { databaseUrl: postgres.url, aiUrl: 'offline', env });
    const userIds = await insertPeople(postgres.db, 60);
    const tokens = await signInAll(postgres.db, userIds);
    let lastIds: Map<number, number> | null = null;
    const readers = userIds.slice(0, READING_USERS).flatMap((userId, n) =>
      [1, 2].map(async () => {
        const getLastId = () => lastIds?.get(userId) ?? null;
        const token = tokens[n] ?? '';
        // Only a stream that ends is opened again.
        const maxConnectedMs = Number.POSITIVE_INFINITY;
        return { userId, ...(await readWithInterruptions({ urls: [api.url], token, getLastId, maxConnectedMs })) };
      }),
    );

    const answers: (Answer & { at: number })[] = [];
    let stopping = false;
    const load = tokens.slice(0, 12).map(async (_, first) => {
      for (let turn = 0; !stopping; turn++) {
        const token = tokens[(first + turn * 12) % tokens.length] ?? '';
        answers.push({ ...(await createTask(api.url, token)), at: performance.now() });
        await delay(15);
      }
    });
    const created = (since: number) => answers.filter(({ at, status }) => at > since && status === 201).length;
    await until(() => created(0) > BEFORE);
    await postgres.stop();
    const stoppedAt = performance.now();
    await until(() => answers.filter(({ at }) => at > stoppedAt).length > DURING);
    const startedAt = performance.now();
    await postgres.start();
    const backAt = performance.now();
    await until(() => created(backAt) > AFTER);
    stopping = true;
    await Promise.all(load);

    const during = answers.filter(({ at, ms }) => at - ms > stoppedAt && at < startedAt);
    t.ok(during.length > 50, `${during.length} requests during the outage`);
    for (const { status, body } of during) {
      t.match({ status, body }, { status: 503, body: { success: false, error: 'Service unavailable' } });
    }
    t.equal(answers.find(({ status }) => status === 503)?.retryAfter, 1, 'the first refusal asks for a second only');
    const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)));
    t.ok(slowest < MAX_ANSWER_MS, `the slowest of ${answers.length} answers took ${slowest} ms`);
    const unexpected = answers.filter(({ status }) => ![201, 402, 503].includes(status));
    t.same(unexpected, [], 'every other request is created, over quota or 503');

    const resumed = answers.find(({ at, status }) => at > startedAt && status === 201);
    const resumedMs = Math.round((resumed?.at ?? Number.POSITIVE_INFINITY) - backAt);
    t.ok(resumedMs < MAX_ANSWER_MS, `tasks are taken again ${resumedMs} ms after the database is back`);

    const acknowledged = answers.filter(({ status }) => status === 201).map(({ body }) => Number(body.taskId));
    const stored = new Set((await postgres.db.select({ id: tasks.id }).from(tasks)).map(({ id }) => id));
    t.ok(acknowledged.length > 100, `${acknowledged.length} tasks were acknowledged`);
    t.same(
      acknowledged.filter((id) => !stored.has(id)),
      [],
      'every acknowledged task is stored',
    );
    t.equal(new Set(acknowledged).size, acknowledged.length);

    const positions = await postgres.db.select().from(eventPositions);
    lastIds = new Map(positions.map(({ userId, lastId }) => [userId, lastId]));
    for (const { userId, ids, connections, resets } of await Promise.all(readers)) {
      const lastId = lastIds.get(userId) ?? 0;
      t.ok(lastId > 5, `${lastId} events, ${connections} connections`);
      t.strictSame(
        ids,
        Array.from({ length: lastId }, (_, n) => n + 1),
        'each event exactly once, in order',
      );
      t.equal(resets, 0);
    }
    t.ok(api.isAlive());
  },
);

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
