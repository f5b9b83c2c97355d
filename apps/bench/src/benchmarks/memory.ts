import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark, Environment } from '../benchmark.ts';
import { measureInRounds } from '../comparison.ts';
import { install } from '../environment/installation.ts';
import { startAiServer } from '../environment/servers/ai-server.ts';
import { insertTasks, insertUsers, setDue } from '../environment/users.ts';
import { formatNumber } from '../statistics.ts';

const TASKS_EACH = 5;
const TIMEOUT_MS = 60_000;

/** What waiting costs. */
export const memory: Benchmark = {
  about: 'resident memory of one API process that waits for 1,000 answers of a slow provider',
  async run(_stack, environment) {
    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => measure(environment) },
      ({ waiting, before }) => `${formatNumber(waiting)} MB, ${formatNumber(before)} MB before`,
    );
    return [
      {
        what: 'memory with 1,000 executions waiting',
        unit: 'MB',
        values: results.carillon.map(({ waiting }) => waiting),
        aim: { atMost: 300 },
      },
      { what: 'memory of the same process before', unit: 'MB', values: results.carillon.map(({ before }) => before) },
    ];
  },
};

/** A new process in each round. The provider goes first at the end, so the calls end with it. */
async function measure(environment: Environment) {
  await using stack = new AsyncDisposableStack();
  const count = environment.quick ? 20 : 1000;
  await using provider = new AsyncDisposableStack();
  const ai = await startAiServer(provider, environment.server.folder, { delayMs: [60_000, 60_000] });
  const { db, jwtSecret, api } = await install(stack, environment, { ai, apiEnv: { EXECUTION_CONCURRENCY: '1000' } });
  await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
  await insertTasks(db, TASKS_EACH);
  const before = residentMb(api.pid);
  await setDue(db, new Date());
  const deadline = performance.now() + TIMEOUT_MS;
  while ((await ai.inFlight()) < count) {
    if (performance.now() > deadline)
      throw new Error(`Only ${await ai.inFlight()} of ${count} calls reached the provider.`);
    await delay(50);
  }
  // Long enough for a lease to be renewed, and for what was needed for the starts to be over.
  await delay(environment.quick ? 100 : 12_000);
  return { waiting: residentMb(api.pid), before };
}

/** Of Linux, in millions of bytes. */
function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
