import type { Environment } from '../bench.ts';
import { SERVER_CORE } from '../environment/cores.ts';
import { install } from '../environment/installation.ts';
import type { LoadOptions, LoadResult } from '../environment/load.ts';
import { addPeople, addTasks, type Person } from '../environment/people.ts';
import { programAt, startProcess } from '../environment/processes.ts';
import { digits } from '../statistics.ts';

/** Each connection is a user of its own, as in life: one counter for all of them would be one locked row. */
export const CONNECTIONS = 50;
const TASKS_EACH = 20;

export interface HttpBed {
  apiUrl: string;
  people: Person[];
  /** For each person, what their connection asks for; `prefix` stands before the path of a task. */
  askForTasks(prefix: string): LoadOptions['requests'];
  /** Starts an HTTP baseline over the same database, on the same core; tells its address. */
  startBaseline(name: string): Promise<string>;
}

/** An API with signed-in people and their tasks, for loads from another process. */
export async function prepareHttp(stack: AsyncDisposableStack, environment: Environment): Promise<HttpBed> {
  const { db, apiUrl, databaseUrl, jwtSecret } = await install(stack, environment, { scheduler: false });
  const people = await addPeople(db, { count: CONNECTIONS, jwtSecret });
  const tasks = await addTasks(db, TASKS_EACH);
  return {
    apiUrl,
    people,
    askForTasks: (prefix) =>
      people.map(({ id, token }) =>
        tasks
          .filter(({ userId }) => userId === id)
          .map((task) => ({ path: `${prefix}/${task.id}`, headers: { authorization: `Bearer ${token}` } })),
      ),
    async startBaseline(name) {
      const { ready } = await startProcess(stack, {
        name,
        file: programAt(`baselines/http/${name}-main.ts`),
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
export const loadTimes = ({ quick }: Environment) =>
  quick
    ? { measured: { requests: 100 }, warmUp: { requests: 50 } }
    : { measured: { seconds: 8 }, warmUp: { seconds: 4 } };

export const describeLoad = ({ requestsPerSecond, p99Ms }: LoadResult) =>
  `${digits(requestsPerSecond)} requests/s, p99 ${digits(p99Ms)} ms`;
