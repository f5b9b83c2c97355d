import { hashPassword } from '@carillon/api/product/auth/passwords';
import { sql } from 'drizzle-orm';
import { insertTasks, insertUsers, type Task, type User } from '../../../../../test/system/users.ts';
import { type Benchmark, measureInRounds } from '../../benchmark.ts';
import { install } from '../../environment/installation.ts';
import { type LoadOptions, type LoadRequest, startLoad } from '../../environment/load.ts';
import { readDatabaseProcessorSeconds, readProcessorSeconds } from '../../environment/resources.ts';
import { formatNumber } from '../../statistics.ts';
import { runAllDue, vacuumAndCheckpoint, waitForRuns } from '../due-tasks.ts';

const USERS = 1000;
const TASKS_EACH = 10;
const CONNECTIONS = 20;
const CONCURRENCY = 200;
const TIMEOUT_MS = 180_000;
const WAIT = { timeoutMs: TIMEOUT_MS, pollMs: 50 };
const PASSWORD = 'Carillon-2026';
const CREATED = 'Created by the benchmark';

/** In milliseconds for each request or run. */
interface Cost {
  api: number;
  postgres: number;
}

export const costs: Benchmark = {
  about:
    'processor time of the API and of PostgreSQL for each request and each run, on which docs/operating/sizing.md rests',
  async run(stack, environment) {
    const { quick } = environment;
    const users = quick ? CONNECTIONS : USERS;
    const { db, api, apiUrl, jwtSecret } = await install(stack, environment, {
      apiEnv: { EXECUTION_CONCURRENCY: String(CONCURRENCY) },
    });
    const people = await insertUsers(db, { count: users, jwtSecret, passwordHash: await hashPassword(PASSWORD) });
    const tasks = await insertTasks(db, quick ? 2 : TASKS_EACH);
    const load = startLoad(stack);
    const send = async (name: keyof typeof REQUESTS, count: number) => {
      const requests = spread(people.map((user, n) => REQUESTS[name](user, tasks[n] as Task)));
      await load.send({ url: apiUrl, connections: CONNECTIONS, requests, until: { requests: count } });
    };
    const measure = async (count: number, work: () => Promise<unknown>): Promise<Cost> => {
      await vacuumAndCheckpoint(db);
      const before = { api: readProcessorSeconds(api.pid), postgres: await readDatabaseProcessorSeconds(db) };
      await work();
      const toMs = (seconds: number) => (seconds * 1000) / count;
      return {
        api: toMs(readProcessorSeconds(api.pid) - before.api),
        postgres: toMs((await readDatabaseProcessorSeconds(db)) - before.postgres),
      };
    };
    /** After a tenth of the requests that is not measured. */
    const measureRequests = async (name: keyof typeof REQUESTS, count: number) => {
      const requests = quick ? CONNECTIONS : count;
      await send(name, Math.max(CONNECTIONS, requests / 10));
      await waitForRuns(db, WAIT);
      return measure(requests, async () => {
        await send(name, requests);
        await waitForRuns(db, WAIT);
      });
    };
    const results = await measureInRounds(
      environment.rounds,
      {
        'GET /api/tasks/:id': () => measureRequests('read', 20_000),
        'GET /api/tasks, first page': () => measureRequests('list', 5000),
        'POST /api/agent/create-task': () =>
          measureRequests('create', 2000).finally(() => db.execute(sql`delete from tasks where name = ${CREATED}`)),
        'POST /api/tasks/:id/execute with its run': () => measureRequests('execute', 2000),
        'POST /api/auth/login': () => measureRequests('login', 200),
        'a planned run, many due together': () =>
          measure(tasks.length, () => runAllDue(db, { count: tasks.length, timeoutMs: TIMEOUT_MS })),
      },
      (cost) => `${formatNumber(cost.api)} ms of the API, ${formatNumber(cost.postgres)} ms of PostgreSQL`,
    );
    return Object.entries(results).flatMap(([what, costs]) => [
      { what: `${what}: API`, unit: 'ms', values: costs.map(({ api }) => api) },
      { what: `${what}: PostgreSQL`, unit: 'ms', values: costs.map(({ postgres }) => postgres), note: NOTE },
    ]);
  },
};

const NOTE = `user and system time of all threads and processes, over ${CONNECTIONS} connections. PostgreSQL includes autovacuum and the writing of the log and of pages, but not the disk. The AI server answers immediately with 200 characters`;

const JSON_BODY = { 'content-type': 'application/json' };
const authorize = ({ token }: User) => ({ authorization: `Bearer ${token}` });

const REQUESTS = {
  read: (user, { id }) => ({ path: `/api/tasks/${id}`, headers: authorize(user) }),
  list: (user) => ({ path: '/api/tasks?limit=20', headers: authorize(user) }),
  execute: (user, { id }) => ({ method: 'POST', path: `/api/tasks/${id}/execute`, headers: authorize(user) }),
  create: (user) => ({
    method: 'POST',
    path: '/api/agent/create-task',
    headers: { ...JSON_BODY, ...authorize(user) },
    body: JSON.stringify({
      name: CREATED,
      prompt: 'Name a moon of Saturn.',
      scheduledFor: '2090-01-01T00:00:00.000Z',
      recurrence: 'daily',
      timezone: 'UTC',
    }),
  }),
  login: ({ email }) => ({
    method: 'POST',
    path: '/api/auth/login',
    headers: JSON_BODY,
    body: JSON.stringify({ email, password: PASSWORD }),
  }),
} satisfies Record<string, (user: User, task: Task) => LoadRequest>;

/** One list for each connection. */
function spread(requests: readonly LoadRequest[]): LoadOptions['requests'] {
  return Array.from({ length: CONNECTIONS }, (_, connection) =>
    requests.filter((_, n) => n % CONNECTIONS === connection),
  );
}
