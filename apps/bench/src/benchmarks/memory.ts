import { setTimeout as delay } from 'node:timers/promises';
import { startAiServer } from '../../../../test/system/servers/ai-server.ts';
import { insertTasks, insertUsers, setDue } from '../../../../test/system/users.ts';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { readMemoryMb } from '../environment/resources.ts';
import { formatNumber } from '../statistics.ts';

const TASKS_EACH = 5;
const TIMEOUT_MS = 60_000;

export const memory: Benchmark = {
  about: 'resident memory of an API process with 1,000 pending calls to a slow AI provider',
  async run(_stack, environment) {
    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => measure(environment) },
      ({ pending, before }) => `${formatNumber(pending)} MB, ${formatNumber(before)} MB before`,
    );
    return [
      {
        what: 'memory with 1,000 pending executions',
        unit: 'MB',
        values: results.carillon.map(({ pending }) => pending),
        aim: { atMost: 300 },
      },
      { what: 'memory of the same process before', unit: 'MB', values: results.carillon.map(({ before }) => before) },
    ];
  },
};

/** Uses a new process in each round. */
async function measure(environment: Environment) {
  await using stack = new AsyncDisposableStack();
  const count = environment.quick ? 20 : 1000;
  // Disposed of before `stack`, so that the API does not wait for the pending calls.
  await using aiStack = new AsyncDisposableStack();
  const ai = await startAiServer(aiStack, environment.server.folder, { delayMs: [60_000, 60_000] });
  const { db, jwtSecret, api } = await install(stack, environment, { ai, apiEnv: { EXECUTION_CONCURRENCY: '1000' } });
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
  await insertTasks(db, TASKS_EACH);
  const before = readMemoryMb(api.pid);
  await setDue(db, new Date());
  const deadline = performance.now() + TIMEOUT_MS;
  while ((await ai.inFlight()) < count) {
    if (performance.now() > deadline)
      throw new Error(`Only ${await ai.inFlight()} of ${count} calls reached the AI server.`);
    await delay(50);
  }
  // Long enough to renew a lease and to free the memory of the starts.
  await delay(environment.quick ? 100 : 12_000);
  return { pending: readMemoryMb(api.pid), before };
}
