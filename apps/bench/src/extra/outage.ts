import { setTimeout as delay } from 'node:timers/promises';
import { eventPositions, tasks } from '@carillon/db';
import { insertUsers, postAs, type User } from '../../../../test/system/users.ts';
import type { Benchmark } from '../benchmark.ts';
import { openEvents } from '../environment/event-client.ts';
import { install } from '../environment/installation.ts';
import { printPercentiles } from '../statistics.ts';

const OUTAGE_MS = 60_000;
const MARGIN_MS = 5000;
const USERS = 60;
/** Users with a live stream. */
const READERS = 20;
/** A stream counts for 15 s after its connection is lost. */
const RESUME_MS = 20_000;
/** Slow enough that no user reaches the limit of 100 active tasks. */
const PAUSE_MS = 800;

interface Answer {
  at: number;
  durationMs: number;
  taskId: number | null;
}

export const outage: Benchmark = {
  about: `lost tasks, missed events and recovery time when the database stops for ${OUTAGE_MS / 1000} s under load`,
  async run(stack, environment) {
    const { server } = environment;
    const { apiUrl, db, api, jwtSecret } = await install(stack, environment, { apiEnv: { AI_BASE_URL: 'offline' } });
    const users = await insertUsers(db, { count: USERS, jwtSecret });

    const lastIds = new Map<number, number>();
    const readers = users.slice(0, READERS).map((user) => readEvents(apiUrl, user, lastIds));
    const answers: Answer[] = [];
    let stopping = false;
    const load = users.map(async (user) => {
      while (!stopping) {
        answers.push(await createTask(apiUrl, user));
        await delay(PAUSE_MS);
      }
    });
    await delay(MARGIN_MS);
    await server.stop();
    const stoppedAt = performance.now();
    await delay(OUTAGE_MS);
    const startedAt = performance.now();
    await server.start();
    const backAt = performance.now();
    await delay(MARGIN_MS);
    stopping = true;
    await Promise.all(load);

    const during = answers.filter(({ at, durationMs }) => at - durationMs > stoppedAt && at < startedAt);
    const first = answers.find(({ at, taskId }) => at > startedAt && taskId !== null);
    const acknowledged = answers.flatMap(({ taskId }) => taskId ?? []);
    const stored = new Set((await db.select({ id: tasks.id }).from(tasks)).map(({ id }) => id));
    const lost = acknowledged.filter((id) => !stored.has(id));
    console.log(`\n${acknowledged.length} tasks were acknowledged, ${lost.length} of them were lost.`);
    console.log(
      `${during.length} requests arrived during the outage, ${during.filter(({ taskId }) => taskId).length} succeeded.`,
    );
    console.log(
      `The first task was created ${Math.round((first?.at ?? Number.NaN) - backAt)} ms after the restart of the database.`,
    );
    for (const { userId, lastId } of await db.select().from(eventPositions)) lastIds.set(userId, lastId);
    const readings = await Promise.all(readers);
    const wrong = readings.filter(
      ({ ids, userId }) => ids.some((id, n) => id !== n + 1) || ids.at(-1) !== lastIds.get(userId),
    );
    const connections = readings.reduce((sum, reading) => sum + reading.connections, 0);
    console.log(
      `${wrong.length} of ${READERS} readers have missed or repeated an event, with ${connections} connections.`,
    );
    printPercentiles({
      'responses (ms)': answers.map(({ durationMs }) => durationMs),
      'during the outage (ms)': during.map(({ durationMs }) => durationMs),
    });
    process.kill(api.pid, 0);
    if (lost.length + wrong.length > 0) throw new Error('Tasks or events were lost.');
    return [];
  },
};

/** Reads all events of a user until the one of `lastIds`. Connects again when the stream ends. */
async function readEvents(apiUrl: string, { id: userId, token }: User, lastIds: ReadonlyMap<number, number>) {
  const ids: number[] = [];
  let connections = 0;
  let giveUpAt = Number.POSITIVE_INFINITY;
  while (ids.at(-1) !== lastIds.get(userId) || lastIds.size === 0) {
    const after = ids.at(-1) ?? 0;
    const client = await openEvents(apiUrl, { token, after }, ({ id }) => void ids.push(id)).catch(() => null);
    let isOpen = client?.status === 200;
    if (isOpen) connections += 1;
    void client?.closed.then(() => {
      isOpen = false;
    });
    do {
      await delay(100);
      if (lastIds.size > 0) giveUpAt = Math.min(giveUpAt, performance.now() + RESUME_MS);
    } while (isOpen && performance.now() < giveUpAt && (ids.at(-1) !== lastIds.get(userId) || lastIds.size === 0));
    client?.close();
    if (performance.now() > giveUpAt) break;
  }
  return { userId, ids, connections };
}

async function createTask(apiUrl: string, user: User): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await postAs(user, `${apiUrl}/api/agent/create-task`, {
    name: 'Written under load',
    prompt: 'Name a moon of Saturn.',
    scheduledFor: '2090-01-01T00:00:00.000Z',
    recurrence: 'daily',
    timezone: 'UTC',
  }).catch(() => null);
  const at = performance.now();
  return { at, durationMs: at - startedAt, taskId: answer === null ? null : Number(answer.taskId) };
}
