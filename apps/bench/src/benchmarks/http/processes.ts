import { type Benchmark, measureInRounds } from '../../benchmark.ts';
import { describeLoad, prepareServers, toRates } from './fresh-servers.ts';

/** A multiple of the number of processes. */
const CONNECTIONS = 64;

export const processesHttp: Benchmark = {
  about: `GET /api/tasks/:id over ${CONNECTIONS} connections, one user each, spread over one, two and four API processes on one database`,
  async run(stack, environment) {
    const { measure, startCarillon, buildTaskRequests } = await prepareServers(stack, environment, {
      connections: CONNECTIONS,
      unpinned: true,
    });
    const requests = buildTaskRequests('/api/tasks');
    const measureWith = (processes: number) => () => measure((stack) => startCarillon(stack, { processes }), requests);
    const results = await measureInRounds(
      environment.rounds,
      { one: measureWith(1), two: measureWith(2), four: measureWith(4) },
      describeLoad,
    );
    return (['two', 'four'] as const).map((count) => ({
      what: `GET /api/tasks/:id, ${count} processes`,
      unit: 'requests/s',
      values: toRates(results[count]),
      baseline: { name: 'one process', values: toRates(results.one) },
      aim: { atLeast: 1 },
      note: 'no process is pinned: the API processes share all cores with PostgreSQL and the load generator, so that on two cores a second process has little to gain',
    }));
  },
};
