import type { Benchmark } from '../benchmark.ts';
import { measureInRounds } from '../comparison.ts';
import { install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { startAiServer } from '../environment/servers/ai-server.ts';
import { insertTasks, insertUsers } from '../environment/users.ts';
import { formatNumber } from '../statistics.ts';
import { runAllDue } from './due-tasks.ts';

/** The specification's limit over all processes, in one of them. */
const CONCURRENCY = 1000;
/** As many as may run at once of one user: what is measured is how places are filled, not how users are held apart. */
const TASKS_EACH = 5;
const TIMEOUT_MS = 180_000;

/** Whether a place is filled again as soon as it is free, and how long the last of a crowd waits. */
export const slow: Benchmark = {
  about: `10,000 tasks due in the same second, answers after 0.5 to 1.5 s, ${CONCURRENCY} in flight`,
  async run(stack, environment) {
    const count = environment.quick ? 40 : 10_000;
    const concurrency = environment.quick ? 20 : CONCURRENCY;
    const { folder } = environment.server;
    const ai = await startAiServer(stack, folder, { delayMs: environment.quick ? [50, 150] : [500, 1500] });
    const { db, databaseUrl, jwtSecret } = await install(stack, environment, {
      ai,
      apiEnv: { EXECUTION_CONCURRENCY: String(concurrency) },
    });
    await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
    await insertTasks(db, TASKS_EACH);
    const limit = async () => {
      const { ready } = await startProcess(stack, {
        name: 'lanes',
        file: resolveProgram('baselines/queues/concurrent-calls-main.ts'),
        folder,
        core: SERVER_CORE,
        env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, CONCURRENCY: String(concurrency) },
        ready: /^done in (\S+) ms$/m,
        timeoutMs: TIMEOUT_MS,
      });
      return { lastStartMs: Number(ready), lastEndMs: Number(ready) };
    };
    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => runAllDue(db, { count, patienceMs: TIMEOUT_MS }), limit },
      ({ lastEndMs, lastStartMs }) =>
        `${formatNumber((count / lastEndMs) * 1000)} executions/s, the last start after ${formatNumber(lastStartMs)} ms`,
    );
    const name = `${concurrency} plain calls at any time, nothing written`;
    const rates = (of: 'carillon' | 'limit') => results[of].map(({ lastEndMs }) => (count / lastEndMs) * 1000);
    return [
      {
        what: 'executions while the AI takes 0.5 to 1.5 s',
        unit: 'executions/s',
        values: rates('carillon'),
        baseline: { name, values: rates('limit') },
        aim: { atLeast: 0.97 },
        note: 'from the instant at which all are due to the last end, so the waiting for the last answers is in both',
      },
      {
        what: 'last start of 10,000 that are due together',
        unit: 'ms',
        values: results.carillon.map(({ lastStartMs }) => lastStartMs),
        baseline: {
          name: 'all of them at the rate of the limit',
          values: results.limit.map(({ lastEndMs }) => lastEndMs),
        },
        aim: { atMost: 1.5 },
      },
    ];
  },
};
