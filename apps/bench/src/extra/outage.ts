import { setTimeout as delay } from 'node:timers/promises';
import { tasks } from '@carillon/db';
import type { Benchmark } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { insertUsers, postAs, type User } from '../environment/users.ts';
import { printPercentiles } from '../statistics.ts';

const AWAY_MS = 60_000;
const AROUND_MS = 5000;
const PEOPLE = 60;
/** Slow enough that nobody reaches the 100 active tasks of a plan before the end. */
const PAUSE_MS = 800;

interface Answer {
  at: number;
  ms: number;
  taskId: number | null;
}

/** What a database that is stopped under load costs: no acknowledged write, no exit, and how long until it is used again. */
export const outage: Benchmark = {
  about: `the database stopped for ${AWAY_MS / 1000} s under load: is an acknowledged task lost, how soon is it used again`,
  async run(stack, environment) {
    const { server } = environment;
    const { apiUrl, db, api, jwtSecret } = await install(stack, environment, { apiEnv: { AI_BASE_URL: 'offline' } });
    const people = await insertUsers(db, { count: PEOPLE, jwtSecret });

    const answers: Answer[] = [];
    let stopping = false;
    const load = people.map(async (person) => {
      while (!stopping) {
        answers.push(await createTask(apiUrl, person));
        await delay(PAUSE_MS);
      }
    });
    await delay(AROUND_MS);
    await server.stop();
    const stoppedAt = performance.now();
    await delay(AWAY_MS);
    const startedAt = performance.now();
    await server.start();
    const backAt = performance.now();
    await delay(AROUND_MS);
    stopping = true;
    await Promise.all(load);

    const during = answers.filter(({ at, ms }) => at - ms > stoppedAt && at < startedAt);
    const first = answers.find(({ at, taskId }) => at > startedAt && taskId !== null);
    const acknowledged = answers.flatMap(({ taskId }) => taskId ?? []);
    const stored = new Set((await db.select({ id: tasks.id }).from(tasks)).map(({ id }) => id));
    const lost = acknowledged.filter((id) => !stored.has(id));
    console.log(`\n${acknowledged.length} tasks were acknowledged, ${lost.length} of them are lost.`);
    console.log(
      `${during.length} requests came while it was away, ${during.filter(({ taskId }) => taskId).length} were taken.`,
    );
    console.log(
      `Tasks were taken again ${Math.round((first?.at ?? Number.NaN) - backAt)} ms after the database was back.`,
    );
    printPercentiles({ 'answers (ms)': answers.map(({ ms }) => ms), 'while away (ms)': during.map(({ ms }) => ms) });
    process.kill(api.pid, 0);
    return [];
  },
};

async function createTask(apiUrl: string, person: User): Promise<Answer> {
  const since = performance.now();
  const answer = await postAs(person, `${apiUrl}/api/agent/create-task`, {
    name: 'Written under load',
    prompt: 'Name a moon of Saturn.',
    scheduledFor: '2090-01-01T00:00:00.000Z',
    recurrence: 'daily',
    timezone: 'UTC',
  }).catch(() => null);
  const at = performance.now();
  return { at, ms: at - since, taskId: answer === null ? null : Number(answer.taskId) };
}
