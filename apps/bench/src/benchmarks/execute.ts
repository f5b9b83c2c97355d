import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { resolveProgram, SERVER_CORE, startProcess } from '../../../../test/system/processes.ts';
import { type AiServer, monotonicMs, startAiServer } from '../../../../test/system/servers/ai-server.ts';
import { closeWith } from '../../../../test/system/shutdown.ts';
import { insertTasks, insertUsers, type Task } from '../../../../test/system/users.ts';
import { type Benchmark, measureInRounds } from '../benchmark.ts';
import { prepareFreshInstallation } from '../environment/fresh-installation.ts';
import { connectDatabase } from '../environment/installation.ts';
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
    const warmUp = environment.quick ? 5 : 100;
    const users = samples / TASKS_EACH;
    const { server } = environment;
    const ai = await startAiServer(stack, server.folder, { record: true });
    const { db, jwtSecret, measure } = await prepareFreshInstallation(stack, environment, { ai });
    const tokens = new Map((await insertUsers(db, { count: users, jwtSecret })).map(({ id, token }) => [id, token]));
    const tasks = (await insertTasks(db, TASKS_EACH)).map((task) => ({ ...task, token: tokens.get(task.userId) }));

    const databaseUrl = await server.newDatabase();
    const baselineDb = connectDatabase(stack, databaseUrl);
    await insertUsers(baselineDb, { count: users, jwtSecret });
    const baselineTasks = await insertTasks(baselineDb, TASKS_EACH);

    /** All tasks after a warm-up with some of them. */
    const measureP99 = async (target: Target) => {
      await measureSequentially(stack, ai, { ...target, tasks: target.tasks.slice(0, warmUp) });
      return p99(await measureSequentially(stack, ai, target));
    };
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: () => measure(({ apiUrl }) => measureP99({ url: apiUrl, prefix: '/api/tasks', tasks })),
        notify: async () => {
          const { ready, stop } = await startProcess(stack, {
            name: 'notify',
            file: resolveProgram('bench/src/baselines/queues/notify-main.ts'),
            folder: server.folder,
            core: SERVER_CORE,
            env: { DATABASE_URL: databaseUrl, AI_URL: ai.url },
            ready: /^ready at (\S+)$/m,
          });
          const ms = await measureP99({ url: ready, prefix: '/tasks', tasks: baselineTasks });
          await stop();
          return ms;
        },
      },
      (ms) => `p99 ${formatNumber(ms)} ms`,
    );
    return [
      {
        what: 'from POST …/execute to the AI server, p99',
        unit: 'ms',
        values: results.carillon,
        baseline: { name: 'LISTEN/NOTIFY with hand-written SQL', values: results.notify },
        aim: { atMost: 1.5 },
        note: `${samples} executions per round after ${warmUp} in new processes; the baseline is Fastify with one statement that inserts and notifies, one that starts and one that completes, without sessions, limits, quotas, usage and events`,
      },
    ];
  },
};

/** The milliseconds from sending each request to its arrival at the AI server. */
async function measureSequentially(
  stack: AsyncDisposableStack,
  ai: AiServer,
  { url, prefix, tasks }: Target,
): Promise<number[]> {
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
  return arrivals.map(({ prompt, monotonicMs }) => monotonicMs - (sentAt.get(prompt) as number));
}
