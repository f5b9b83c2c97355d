import { type Benchmark, measureInRounds } from '../../benchmark.ts';
import { CONNECTIONS, describeLoad, prepareServers, toRates } from './fresh-servers.ts';

export const health: Benchmark = {
  about: `GET /api/health over ${CONNECTIONS} connections`,
  async run(stack, environment) {
    const { measure, startCarillon, startBaseline } = await prepareServers(stack, environment);
    const [ours, hello] = [[[{ path: '/api/health' }]], [[{ path: '/hello' }]]];
    const results = await measureInRounds(
      environment.rounds,
      {
        // Requests for the health are logged at this level, and nothing else is.
        carillonWithLog: () => measure((stack) => startCarillon(stack, { apiEnv: { LOG_LEVEL: 'debug' } }), ours),
        fastifyWithLog: () => measure((stack) => startBaseline(stack, 'fastify-hello', { withLog: true }), hello),
        carillon: () => measure(startCarillon, ours),
        fastify: () => measure((stack) => startBaseline(stack, 'fastify-hello'), hello),
      },
      describeLoad,
    );
    return [
      {
        what: 'GET /api/health, a log line each',
        unit: 'requests/s',
        values: toRates(results.carillonWithLog),
        baseline: { name: 'bare Fastify hello, a log line each', values: toRates(results.fastifyWithLog) },
        aim: { atLeast: 0.9 },
        note: 'both write the same line for each request, as JSON through pino, to a file; the second row is without',
      },
      {
        what: 'GET /api/health',
        unit: 'requests/s',
        values: toRates(results.carillon),
        baseline: { name: 'bare Fastify hello', values: toRates(results.fastify) },
      },
    ];
  },
};
