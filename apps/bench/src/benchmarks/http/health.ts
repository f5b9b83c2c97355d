import { type Benchmark, measureInRounds } from '../../benchmark.ts';
import { startLoad } from '../../environment/load.ts';
import { CONNECTIONS, describeLoad, getLoadDurations, prepareHttp } from './load-durations.ts';

export const health: Benchmark = {
  about: `GET /api/health over ${CONNECTIONS} connections`,
  async run(stack, environment) {
    const { apiUrl, startBaseline } = await prepareHttp(stack, environment);
    const fastify = await startBaseline('fastify');
    const load = startLoad(stack);
    const { measured, warmUp } = getLoadDurations(environment);
    const send = (url: string, path: string, until: typeof measured) =>
      load.send({ url, connections: CONNECTIONS, requests: [[{ path }]], until });
    await send(apiUrl, '/api/health', warmUp);
    await send(fastify, '/hello', warmUp);
    const results = await measureInRounds(
      environment.rounds,
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
        baseline: {
          name: 'bare Fastify hello',
          values: results.fastify.map(({ requestsPerSecond }) => requestsPerSecond),
        },
        aim: { atLeast: 0.9 },
      },
    ];
  },
};
