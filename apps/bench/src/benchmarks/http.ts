import type { Environment } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import type { LoadOptions, LoadResult } from '../environment/load.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { insertTasks, insertUsers, type User } from '../environment/users.ts';
import { formatNumber } from '../statistics.ts';

/** Each connection is a user of its own, as in life: one counter for all of them would be one locked row. */
export const CONNECTIONS = 50;
const TASKS_EACH = 20;

export interface HttpSetup {
  apiUrl: string;
  people: User[];
  /** For each person, what their connection asks for; `prefix` stands before the path of a task. */
  buildTaskRequests(prefix: string): LoadOptions['requests'];
  /** Starts an HTTP baseline over the same database, on the same core; tells its address. */
  startBaseline(name: string): Promise<string>;
}

/** An API with signed-in people and their tasks, for loads from another process. */
export async function prepareHttp(stack: AsyncDisposableStack, environment: Environment): Promise<HttpSetup> {
  const { db, apiUrl, databaseUrl, jwtSecret } = await install(stack, environment, { scheduler: false });
  const people = await insertUsers(db, { count: CONNECTIONS, jwtSecret });
  const tasks = await insertTasks(db, TASKS_EACH);
  return {
    apiUrl,
    people,
    buildTaskRequests: (prefix) =>
      people.map(({ id, token }) =>
        tasks
          .filter(({ userId }) => userId === id)
          .map((task) => ({ path: `${prefix}/${task.id}`, headers: { authorization: `Bearer ${token}` } })),
      ),
    async startBaseline(name) {
      const { ready } = await startProcess(stack, {
        name,
        file: resolveProgram(`baselines/http/${name}-main.ts`),
        folder: environment.server.folder,
        core: SERVER_CORE,
        env: { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, NODE_ENV: 'production' },
        ready: /^ready at (\S+)$/m,
      });
      return ready;
    },
  };
}

/** How long one figure is measured, and how long before it to get warm. */
export const getLoadDurations = ({ quick }: Environment) =>
  quick
    ? { measured: { requests: 100 }, warmUp: { requests: 50 } }
    : { measured: { seconds: 8 }, warmUp: { seconds: 4 } };

export const describeLoad = ({ requestsPerSecond, p99Ms }: LoadResult) =>
  `${formatNumber(requestsPerSecond)} requests/s, p99 ${formatNumber(p99Ms)} ms`;
