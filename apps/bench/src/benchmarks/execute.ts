import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { type Benchmark, measureInRounds } from '../benchmark.ts';
import { connectDatabase, install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { type AiServer, monotonicMs, startAiServer } from '../environment/servers/ai-server.ts';
import { closeWith } from '../environment/shutdown.ts';
import { insertTasks, insertUsers, type Task } from '../environment/users.ts';
import { formatNumber, p99 } from '../statistics.ts';

const PAUSE_MS = 15;
/** Each task runs once per round, so that no execution waits for another one of its task. */
const TASKS_EACH = 20;

interface Target {
  url: string;
  prefix: string;
  tasks: (Task & { token?: string })[];
}

export const execute: Benchmark = {
  about: 'POST /api/tasks/:id/execute, one at a time, until the AI server receives the request',
  async run(stack, environment) {
    const samples = environment.quick ? 20 : 500;
    const { server } = environment;
    const ai = await startAiServer(stack, server.folder, { record: true });
    const { db, apiUrl, jwtSecret } = await install(stack, environment, { ai });
    const users = await insertUsers(db, { count: samples / TASKS_EACH, jwtSecret });
    const tokens = new Map(users.map(({ id, token }) => [id, token]));
    const tasks = await insertTasks(db, TASKS_EACH);
    const carillon = {
      url: apiUrl,
      prefix: '/api/tasks',
      tasks: tasks.map((task) => ({ ...task, token: tokens.get(task.userId) as string })),
    };

    const databaseUrl = await server.newDatabase();
    const baselineDb = connectDatabase(stack, databaseUrl);
    await insertUsers(baselineDb, { count: samples / TASKS_EACH, jwtSecret });
    const { ready } = await startProcess(stack, {
      name: 'notify',
      file: resolveProgram('baselines/queues/notify-main.ts'),
      folder: server.folder,
      core: SERVER_CORE,
      env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, JWT_SECRET: jwtSecret },
      ready: /^ready at (\S+)$/m,
    });
    const notify = { url: ready, prefix: '/tasks', tasks: await insertTasks(baselineDb, TASKS_EACH) };

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
        what: 'from POST …/execute to the AI server, p99',
        unit: 'ms',
        values: results.carillon,
        baseline: { name: 'LISTEN/NOTIFY with hand-written SQL', values: results.notify },
        aim: { atMost: 3 },
        note: `${samples} executions per round; the baseline has no sessions, limits, quotas or events`,
      },
    ];
  },
};

/** The 99th percentile of the times from sending the request to its arrival at the AI server. */
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
  const arrivals = await ai.takeArrivals();
  if (arrivals.length !== tasks.length) throw new Error(`${arrivals.length} of ${tasks.length} reached the AI server.`);
  await client.close();
  return p99(arrivals.map(({ prompt, monotonicMs }) => monotonicMs - (sentAt.get(prompt) as number)));
}
