import type { Bench } from '../bench.ts';
import { inRounds } from '../comparison.ts';
import { startLoad } from '../setup/load.ts';
import { CONNECTIONS, describeLoad, loadTimes, prepareHttp } from './http.ts';

/** What every request costs before it does anything. */
export const health: Bench = {
  about: `GET /api/health over ${CONNECTIONS} connections`,
  async run(stack, bed) {
    const { apiUrl, startYardstick } = await prepareHttp(stack, bed);
    const fastify = await startYardstick('fastify');
    const load = startLoad(stack);
    const { measured, warmUp } = loadTimes(bed);
    const send = (url: string, path: string, until: typeof measured) =>
      load.send({ url, connections: CONNECTIONS, requests: [[{ path }]], until });
    await send(apiUrl, '/api/health', warmUp);
    await send(fastify, '/hello', warmUp);
    const results = await inRounds(
      bed.rounds,
      {
        carillon: () => send(apiUrl, '/api/health', measured),
        fastify: () => send(fastify, '/hello', measured),
      },
      describeLoad,
    );
    return [
      {
        what: 'GET /api/health',
        unit: 'requests/s',
        values: results.carillon.map(({ requestsPerSecond }) => requestsPerSecond),
        yardstick: {
          name: 'bare Fastify hello',
          values: results.fastify.map(({ requestsPerSecond }) => requestsPerSecond),
        },
        aim: { atLeast: 0.9 },
      },
    ];
  },
};
