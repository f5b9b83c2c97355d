import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../../../test/system/ports.ts';
import { startAiServer } from '../../../../test/system/servers/ai-server.ts';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { formatNumber, median } from '../statistics.ts';
import { prepareCarillonStarts } from './lateness/carillon.ts';

const TIMEOUT_MS = 60_000;
const RUNS = 20;
const RUN_EVERY_MS = 300;

export const start: Benchmark = {
  about: `starts of API and scheduler on a migrated database, then ${RUNS} runs, one every ${RUN_EVERY_MS} ms`,
  async run(stack, environment) {
    const { folder } = environment.server;
    const databaseUrl = await environment.server.newDatabase();
    const ai = await startAiServer(stack, folder, { record: true });
    const tasks = { ai, count: RUNS, intervalMs: environment.quick ? 100 : RUN_EVERY_MS };
    const runAll = await prepareCarillonStarts(stack, environment, tasks);
    const measureStart = (dataDir: string) => measureUntilHealthy(environment, { databaseUrl, dataDir });
    // Fills the compile cache.
    await measureStart(folder);
    const starts = await measureInRounds(
      environment.rounds,
      {
        carillon: () => measureStart(folder),
        firstEver: () => measureStart(mkdtempSync(join(folder, 'new-'))),
      },
      (ms) => `${formatNumber(ms)} ms`,
    );
    const runs = await measureInRounds(
      environment.rounds,
      {
        carillon: async () => {
          const [first = Number.NaN, ...later] = (await runAll()).arrivedMs;
          return { first, later: median(later) };
        },
      },
      ({ first, later }) => `first run ${formatNumber(first)} ms, median of later ones ${formatNumber(later)} ms`,
    );
    return [
      {
        what: 'start of the API until GET /api/health answers',
        unit: 'ms',
        values: starts.carillon,
        aim: { atMost: 700 },
      },
      { what: 'the same for a new installation, which compiles first', unit: 'ms', values: starts.firstEver },
      {
        what: 'first run after a start, from the planned instant to the AI server',
        unit: 'ms',
        values: runs.carillon.map(({ first }) => first),
        baseline: {
          name: `median of the next ${RUNS - 1} runs of the same process`,
          values: runs.carillon.map(({ later }) => later),
        },
        aim: { atMost: 3 },
        note: 'the first run is due 1.1 s after API and scheduler are ready',
      },
    ];
  },
};

/** Starts an API process and returns the milliseconds until it answers. */
async function measureUntilHealthy(
  environment: Environment,
  { databaseUrl, dataDir }: { databaseUrl: string; dataDir: string },
): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const port = await findFreePort();
  const answered = waitUntilHealthy(port);
  // Awaited below, unless the start itself fails.
  answered.catch(() => {});
  const { api } = await install(stack, environment, {
    databaseUrl,
    scheduler: false,
    core: null,
    apiEnv: { PORT: String(port), AI_BASE_URL: 'offline', DATA_DIR: dataDir },
  });
  return (await answered) - api.startedAt;
}

/** Returns the `performance.now()` of the first 2xx. */
async function waitUntilHealthy(port: number): Promise<number> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    // A persistent connection delays the exit until the process is killed, before it writes its compile cache.
    const options = { headers: { connection: 'close' } };
    const response = await fetch(`http://127.0.0.1:${port}/api/health`, options).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return performance.now();
    await delay(5);
  }
  throw new Error('The API did not answer.');
}
