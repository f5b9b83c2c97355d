import { type Benchmark, type Comparison, measureInRounds } from '../../benchmark.ts';
import { CONNECTIONS, describeLoad, prepareServers, toLatencies, toRates } from './fresh-servers.ts';
import { assertSameAnswer } from './same-answer.ts';

const BASELINES = {
  fastify: 'light bare Fastify',
  'fastify-like-for-like': 'like-for-like bare Fastify',
  'fastify-one-query': 'Fastify with one query',
  nest: 'light NestJS on Fastify',
  hono: 'light Hono',
  express: 'light Express',
} as const;
type Baseline = keyof typeof BASELINES;

const LOGGED = new Set<Baseline>(['fastify-like-for-like']);

const AIMS: Partial<Record<Baseline, number>> = {
  fastify: 1,
  'fastify-like-for-like': 1.3,
  'fastify-one-query': 0.75,
};

const NOTES: Partial<Record<Baseline, string>> = {
  fastify:
    'each server is a new process in each round. The baselines use postgres.js, with prepared statements pipelined over two clients of one connection each: this is faster than its pool, which slows down while it runs, and than node-postgres. A light one verifies a JWT, counts in memory and selects the session and half of the fields of the task at once, without a log',
  'fastify-like-for-like':
    'the like-for-like one answers with the same body and headers as Carillon, counts in the same unlogged table and logs the same line to a file; its three statements are sent at once',
  'fastify-one-query':
    'the one with a single query only verifies a JWT and selects half of the fields of the task: no session, limit and log',
};

export const task: Benchmark = {
  about: `GET /api/tasks/:id over ${CONNECTIONS} connections, one user each: session, rate limit and task from the database, with logs`,
  async run(stack, environment) {
    const { measure, startCarillon, startBaseline, buildTaskRequests } = await prepareServers(stack, environment);
    const names = Object.keys(BASELINES) as Baseline[];
    const [ours, withKey, theirs] = [
      buildTaskRequests('/api/tasks'),
      buildTaskRequests('/api/tasks', 'apiKey'),
      buildTaskRequests('/tasks'),
    ];
    await assertLikeForLike();
    const results = await measureInRounds<Baseline | 'carillon' | 'apiKey', Awaited<ReturnType<typeof measure>>>(
      environment.rounds,
      {
        carillon: () => measure(startCarillon, ours),
        apiKey: () => measure(startCarillon, withKey),
        ...(Object.fromEntries(
          names.map((name) => [
            name,
            () => measure((stack) => startBaseline(stack, name, { withLog: LOGGED.has(name) }), theirs),
          ]),
        ) as Record<Baseline, () => ReturnType<typeof measure>>),
      },
      describeLoad,
    );
    const row = (name: Baseline): Comparison => ({
      what: 'GET /api/tasks/:id',
      unit: 'requests/s',
      values: toRates(results.carillon),
      baseline: { name: BASELINES[name], values: toRates(results[name]) },
      ...(AIMS[name] && { aim: { atLeast: AIMS[name] } }),
      ...(NOTES[name] && { note: NOTES[name] }),
    });
    const [fastify, ...others] = names.map(row) as [Comparison, ...Comparison[]];
    return [
      fastify,
      {
        what: 'GET /api/tasks/:id, p99',
        unit: 'ms',
        values: toLatencies(results.carillon),
        baseline: { name: BASELINES.fastify, values: toLatencies(results.fastify) },
        aim: { atMost: 0.7 },
      },
      ...others,
      {
        what: 'GET /api/tasks/:id with an API key',
        unit: 'requests/s',
        values: toRates(results.apiKey),
        baseline: { name: 'Carillon with a session', values: toRates(results.carillon) },
        aim: { atLeast: 0.95 },
      },
    ];

    async function assertLikeForLike() {
      await using stack = new AsyncDisposableStack();
      const [[carillon = ''], [baseline = '']] = await Promise.all([
        startCarillon(stack),
        startBaseline(stack, 'fastify-like-for-like', { withLog: true }),
      ]);
      const first = (requests: typeof ours) => requests[0]?.[0] ?? { path: '/' };
      await assertSameAnswer({ url: carillon, request: first(ours) }, { url: baseline, request: first(theirs) });
    }
  },
};
