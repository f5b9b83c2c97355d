import { type Benchmark, measureInRounds } from '../../benchmark.ts';
import { type LoadResult, startLoad } from '../../environment/load.ts';
import { median } from '../../statistics.ts';
import { CONNECTIONS, describeLoad, getLoadDurations, prepareHttp } from './load-durations.ts';

const FRAMEWORKS = ['nest', 'hono', 'express'] as const;
const NAMES = { fastify: 'bare Fastify', nest: 'NestJS on Fastify', hono: 'Hono', express: 'Express' } as const;

export const task: Benchmark = {
  about: `GET /api/tasks/:id over ${CONNECTIONS} connections, one user each: session, rate limit and task from the database, with logs`,
  async run(stack, environment) {
    const { apiUrl, buildTaskRequests, startBaseline } = await prepareHttp(stack, environment);
    const [fastify, nest, hono, express] = await Promise.all([
      startBaseline('fastify'),
      ...FRAMEWORKS.map(startBaseline),
    ]);
    type Name = keyof typeof NAMES | 'carillon' | 'apiKey';
    const urls = { carillon: apiUrl, apiKey: apiUrl, fastify, nest, hono, express } as Record<Name, string>;
    const load = startLoad(stack);
    const { measured, warmUp } = getLoadDurations(environment);
    const send = (name: keyof typeof urls, until: typeof measured) =>
      load.send({
        url: urls[name],
        connections: CONNECTIONS,
        requests:
          urls[name] === apiUrl
            ? buildTaskRequests('/api/tasks', name === 'apiKey' ? 'apiKey' : 'session')
            : buildTaskRequests('/tasks'),
        until,
      });
    for (const name of Object.keys(urls) as (keyof typeof urls)[]) await send(name, warmUp);
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: () => send('carillon', measured),
        apiKey: () => send('apiKey', measured),
        fastify: () => send('fastify', measured),
        nest: () => send('nest', measured),
        hono: () => send('hono', measured),
        express: () => send('express', measured),
      },
      describeLoad,
    );
    const rates = (name: keyof typeof urls) => results[name].map((result: LoadResult) => result.requestsPerSecond);
    const latencies = (name: keyof typeof urls) => results[name].map((result: LoadResult) => result.p99Ms);
    const best = FRAMEWORKS.toSorted((a, b) => median(rates(b)) - median(rates(a)));
    return [
      {
        what: 'GET /api/tasks/:id',
        unit: 'requests/s',
        values: rates('carillon'),
        baseline: { name: NAMES.fastify, values: rates('fastify') },
        aim: { atLeast: 1 },
        note: 'the baselines verify a JWT, count in an in-memory rate limiter and select session and task through postgres.js, without logs',
      },
      {
        what: 'GET /api/tasks/:id, p99',
        unit: 'ms',
        values: latencies('carillon'),
        baseline: { name: NAMES.fastify, values: latencies('fastify') },
        aim: { atMost: 1 },
      },
      {
        what: 'GET /api/tasks/:id with an API key',
        unit: 'requests/s',
        values: rates('apiKey'),
        baseline: { name: 'Carillon with a session', values: rates('carillon') },
        aim: { atLeast: 0.95 },
      },
      ...best.map((name, index) => ({
        what: 'GET /api/tasks/:id',
        unit: 'requests/s',
        values: rates('carillon'),
        baseline: { name: NAMES[name], values: rates(name) },
        ...(index === 0 && { aim: { atLeast: 1.3 } }),
      })),
    ];
  },
};
