import { resolveProgram, SERVER_CORE, startProcess } from '../../../../test/system/processes.ts';
import { startAiServer } from '../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers } from '../../../../test/system/users.ts';
import { type Benchmark, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { formatNumber } from '../statistics.ts';
import { type RunTimes, runAllDue } from './due-tasks.ts';

/** The limit over all processes, used by a single one. */
const CONCURRENCY = 1000;
/** The limit of concurrent executions of a user, so that fair scheduling does not affect the figures. */
const TASKS_EACH = 5;
const TIMEOUT_MS = 180_000;

export const slow: Benchmark = {
  about: `10,000 tasks due in the same second, AI answers after 0.5 to 1.5 s, ${CONCURRENCY} in flight`,
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
    const callsOnly = async () => {
      const { ready } = await startProcess(stack, {
        name: 'concurrent-calls',
        file: resolveProgram('bench/src/baselines/queues/concurrent-calls-main.ts'),
        folder,
        core: SERVER_CORE,
        env: { DATABASE_URL: databaseUrl, AI_URL: ai.url, CONCURRENCY: String(concurrency) },
        ready: /^done: (.+)$/m,
        timeoutMs: TIMEOUT_MS,
      });
      return JSON.parse(ready) as RunTimes;
    };
    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => runAllDue(db, { count, timeoutMs: TIMEOUT_MS }), callsOnly },
      ({ lastCompletionMs, lastStartMs }) =>
        `${formatNumber((count / lastCompletionMs) * 1000)} executions/s, the last start after ${formatNumber(lastStartMs)} ms`,
    );
    const name = `${concurrency} concurrent AI calls without database writes`;
    const rates = (contestant: 'carillon' | 'callsOnly') =>
      results[contestant].map(({ lastCompletionMs }) => (count / lastCompletionMs) * 1000);
    return [
      {
        what: 'executions with AI answers after 0.5 to 1.5 s',
        unit: 'executions/s',
        values: rates('carillon'),
        baseline: { name, values: rates('callsOnly') },
        aim: { atLeast: 0.97 },
        note: 'measured from the due instant to the last completion, so both include the wait for the last answers',
      },
      {
        what: 'last start of 10,000 tasks due together',
        unit: 'ms',
        values: results.carillon.map(({ lastStartMs }) => lastStartMs),
        baseline: {
          name: `the last start of ${concurrency} concurrent AI calls without database writes`,
          values: results.callsOnly.map(({ lastStartMs }) => lastStartMs),
        },
        aim: { atMost: 1.5 },
      },
    ];
  },
};
