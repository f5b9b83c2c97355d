import { setTimeout as delay } from 'node:timers/promises';
import type { Benchmark } from '../benchmark.ts';
import { measureInRounds } from '../comparison.ts';
import { install } from '../environment/installation.ts';
import { findFreePort } from '../environment/ports.ts';
import { formatNumber } from '../statistics.ts';

const TIMEOUT_MS = 60_000;

/** How long an update or a crash keeps people waiting. */
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
          // Waited for below, unless the start itself fails.
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

/** When the first good answer came, by `performance.now()`. */
async function waitUntilHealthy(port: number): Promise<number> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    // A connection that stays open holds the end up until the process is killed, and what it has compiled is lost.
    const options = { headers: { connection: 'close' } };
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`, options).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) return performance.now();
    await delay(5);
  }
  throw new Error('The API did not answer.');
}
