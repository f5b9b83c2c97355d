import type { Environment } from '../../benchmark.ts';
import { install } from '../../environment/installation.ts';
import type { LoadOptions, LoadResult } from '../../environment/load.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../../environment/processes.ts';
import { insertApiKeys, insertTasks, insertUsers } from '../../environment/users.ts';
import { formatNumber } from '../../statistics.ts';

/** One user each: a shared rate limit counter would be a single locked row. */
export const CONNECTIONS = 50;
const TASKS_EACH = 20;

export interface HttpSetup {
  apiUrl: string;
  /** The requests of each user for `<prefix>/<task id>`, with the session or an API key. */
  buildTaskRequests(prefix: string, credential?: 'session' | 'apiKey'): LoadOptions['requests'];
  /** Starts an HTTP baseline on the same database and core, and returns its URL. */
  startBaseline(name: string): Promise<string>;
}

/** Starts an API with signed-in users and their tasks. */
export async function prepareHttp(stack: AsyncDisposableStack, environment: Environment): Promise<HttpSetup> {
  const { db, apiUrl, databaseUrl, jwtSecret } = await install(stack, environment, { scheduler: false });
  const users = await insertUsers(db, { count: CONNECTIONS, jwtSecret });
  const keys = await insertApiKeys(db, users);
  const tasks = await insertTasks(db, TASKS_EACH);
  return {
    apiUrl,
    buildTaskRequests: (prefix, credential = 'session') =>
      users.map(({ id, token }) => {
        const headers = { authorization: `Bearer ${credential === 'apiKey' ? keys.get(id) : token}` };
        return tasks.filter(({ userId }) => userId === id).map((task) => ({ path: `${prefix}/${task.id}`, headers }));
      }),
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

export const getLoadDurations = ({ quick }: Environment) =>
  quick
    ? { measured: { requests: 100 }, warmUp: { requests: 50 } }
    : { measured: { seconds: 8 }, warmUp: { seconds: 4 } };

export const describeLoad = ({ requestsPerSecond, p99Ms }: LoadResult) =>
  `${formatNumber(requestsPerSecond)} requests/s, p99 ${formatNumber(p99Ms)} ms`;
