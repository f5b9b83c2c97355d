import { setTimeout as delay } from 'node:timers/promises';
import { type Benchmark, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { findFreePort } from '../environment/ports.ts';
import { formatNumber } from '../statistics.ts';

const TIMEOUT_MS = 60_000;

export const start: Benchmark = {
  about: 'from the start of an API process on a migrated database until GET /api/health answers',
  async run(_stack, environment) {
    const databaseUrl = await environment.server.newDatabase();
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: async () => {
          await using stack = new AsyncDisposableStack();
          const port = await findFreePort();
          const answered = waitUntilHealthy(port);
          // Awaited below, unless the start itself fails.
          answered.catch(() => {});
          const { api } = await install(stack, environment, {
            databaseUrl,
            scheduler: false,
            core: null,
            apiEnv: { PORT: String(port), AI_BASE_URL: 'offline' },
          });
          return (await answered) - api.startedAt;
        },
      },
      (ms) => `${formatNumber(ms)} ms`,
    );
    return [{ what: 'start until /api/health answers', unit: 'ms', values: results.carillon, aim: { atMost: 1000 } }];
  },
};

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
