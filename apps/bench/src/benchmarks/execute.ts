import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import type { Benchmark } from '../benchmark.ts';
import { measureInRounds } from '../comparison.ts';
import { connectDatabase, install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { type AiServer, monotonicMs, startAiServer } from '../environment/servers/ai-server.ts';
import { closeWith } from '../environment/shutdown.ts';
import { insertTasks, insertUsers, type Task } from '../environment/users.ts';
import { formatNumber, p99 } from '../statistics.ts';

const PAUSE_MS = 15;
/** As many tasks as samples in a round: a task never waits for a run of its own. */
const TASKS_EACH = 20;

interface Target {
  url: string;
  prefix: string;
  tasks: (Task & { token?: string })[];
}

/** How soon a run on demand reaches the provider. */
export const execute: Benchmark = {
  about: 'POST /api/tasks/:id/execute, one at a time, until the AI server sees the request',
  async run(stack, environment) {
    const samples = environment.quick ? 20 : 500;
    const { server } = environment;
    const ai = await startAiServer(stack, server.folder, { record: true });
    const { db, apiUrl, jwtSecret } = await install(stack, environment, { ai });
    const people = await insertUsers(db, { count: samples / TASKS_EACH, jwtSecret });
    const tokens = new Map(people.map(({ id, token }) => [id, token]));
    const tasks = await insertTasks(db, TASKS_EACH);
    const carillon = {
      url: apiUrl,
      prefix: '/api/tasks',
      tasks: tasks.map((task) => ({ ...task, token: tokens.get(task.userId) as string })),
    };

    const databaseUrl = await server.newDatabase();
    const other = connectDatabase(stack, databaseUrl);
    await insertUsers(other, { count: samples / TASKS_EACH, jwtSecret });
    const { ready } = await startProcess(stack, {
      name: 'notify',
      file: resolveProgram('baselines/queues/notify-main.ts'),
      folder: server.folder,
      core: SERVER_CORE,
      env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, JWT_SECRET: jwtSecret },
      ready: /^ready at (\S+)$/m,
    });
    const notify = { url: ready, prefix: '/tasks', tasks: await insertTasks(other, TASKS_EACH) };

    const measure = (target: Target) => () => measureSequentially(stack, ai, target);
    await measure(carillon)();
    await measure(notify)();
    const results = await measureInRounds(
      environment.rounds,
      { carillon: measure(carillon), notify: measure(notify) },
      (ms) => `p99 ${formatNumber(ms)} ms`,
    );
    return [
      {
        what: 'from POST …/execute until the AI server sees the request, p99',
        unit: 'ms',
        values: results.carillon,
        baseline: { name: 'LISTEN/NOTIFY on hand-written SQL', values: results.notify },
        aim: { atMost: 3 },
        note: `${samples} runs in each round; the baseline has no session, limit, quota or event`,
      },
    ];
  },
};

/** The 99th percentile of the times from sending the request to the arrival at the provider. */
async function measureSequentially(
  stack: AsyncDisposableStack,
  ai: AiServer,
  { url, prefix, tasks }: Target,
): Promise<number> {
  const client = new Client(url);
  closeWith(stack, () => client.destroy());
  await ai.takeArrivals();
  const sentAt = new Map<string, number>();
  for (const { id, token, prompt } of tasks) {
    sentAt.set(prompt, monotonicMs());
    const { statusCode, body } = await client.request({
      path: `${prefix}/${id}/execute`,
      method: 'POST',
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
    await body.dump();
    if (statusCode > 299) throw new Error(`${prefix}/${id}/execute answered ${statusCode}.`);
    await delay(PAUSE_MS);
  }
  await delay(1000);
  const arrived = await ai.takeArrivals();
  if (arrived.length !== tasks.length) throw new Error(`${arrived.length} of ${tasks.length} reached the provider.`);
  await client.close();
  return p99(arrived.map(({ prompt, monotonicMs }) => monotonicMs - (sentAt.get(prompt) as number)));
}
