import { setTimeout as delay } from 'node:timers/promises';
import { hasNginx } from '../../../../../test/system/servers/nginx.ts';
import type { Benchmark } from '../../benchmark.ts';
import { assertNoErrors, type Fault, MARGIN_MS, prepareLoad } from './load.ts';

const PER_SECOND = 100;
const ROUNDS = 10;
/** The approximate duration of a restart. */
const RESTART_MS = 5000;

export const faults: Benchmark = {
  about: `lost and failed requests of two processes behind nginx at ${PER_SECOND} requests per second: rolling restarts, kill -9, restart of PostgreSQL`,
  async run(stack, { quick, server }) {
    if (!hasNginx()) {
      console.log('  Not measured: nginx is not installed.');
      return [];
    }
    const url = await server.newDatabase();
    const { folder } = server;
    const load = await prepareLoad(stack, { folder, databaseUrls: [url, url], perSecond: PER_SECOND });
    const { apis } = load;
    const [first] = apis;
    const run = async (name: string, options: { durationMs: number; fault: Fault }) =>
      assertNoErrors(name, await load.run(name, options));
    const rounds = quick ? 1 : ROUNDS;
    await run(`${rounds} rolling restarts`, {
      durationMs: rounds * apis.length * RESTART_MS,
      async fault() {
        for (let round = 0; round < rounds; round++) for (const api of apis) await api.restart();
        return { isExcused: () => false };
      },
    });
    await run('kill -9 of one of two', {
      durationMs: MARGIN_MS + RESTART_MS,
      async fault() {
        const faultAt = performance.now();
        first.process().signal('SIGKILL');
        await first.process().exited;
        const killedAt = performance.now();
        await delay(MARGIN_MS);
        await first.start();
        // nginx notices the closed connections with a short delay.
        return { isExcused: ({ startedAt, endedAt }) => startedAt < killedAt + 100 && endedAt > faultAt };
      },
    });
    await run('restart of PostgreSQL', {
      durationMs: 2 * MARGIN_MS,
      async fault() {
        const faultAt = performance.now();
        await server.stop();
        await delay(MARGIN_MS);
        await server.start();
        const restartedAt = performance.now();
        await delay(MARGIN_MS);
        // The processes reconnect with a short delay.
        return { isExcused: ({ startedAt, endedAt }) => startedAt < restartedAt + 2000 && endedAt > faultAt };
      },
    });
    return [];
  },
};
