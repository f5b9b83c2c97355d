import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LOAD_CORE, resolveProgram, SERVER_CORE, startProcess } from '../../../../../test/system/processes.ts';
import { startAiServer } from '../../../../../test/system/servers/ai-server.ts';
import { closeWith } from '../../../../../test/system/shutdown.ts';
import { insertApiKeys, insertTasks, insertUsers } from '../../../../../test/system/users.ts';
import type { Environment } from '../../benchmark.ts';
import { prepareFreshInstallation, type StartOptions } from '../../environment/fresh-installation.ts';
import { type LoadOptions, type LoadResult, startLoad } from '../../environment/load.ts';
import { formatNumber } from '../../statistics.ts';

export const CONNECTIONS = 50;
const TASKS_EACH = 20;

type Urls = LoadOptions['url'];
type Requests = LoadOptions['requests'];

/** One database with users and tasks, for servers that run one at a time. */
export interface FreshServers {
  /** The requests of each user for `<prefix>/<task id>`, with the session or an API key. */
  buildTaskRequests(prefix: string, credential?: 'session' | 'apiKey'): Requests;
  startCarillon(stack: AsyncDisposableStack, options?: StartOptions): Promise<string[]>;
  /** Starts `baselines/http/<name>-main.ts`. */
  startBaseline(stack: AsyncDisposableStack, name: string, options?: { withLog: boolean }): Promise<string[]>;
  /** Starts a server, warms it up, sends the load and stops it. */
  measure(start: (stack: AsyncDisposableStack) => Promise<Urls>, requests: Requests): Promise<LoadResult>;
}

export interface FreshServersOptions {
  /** One user each: a shared rate limit counter would be a single locked row. Default: `CONNECTIONS`. */
  connections?: number;
  /** Whether the load and the API processes run on any core. Default: false. */
  unpinned?: boolean;
}

export async function prepareServers(
  stack: AsyncDisposableStack,
  environment: Environment,
  { connections = CONNECTIONS, unpinned = false }: FreshServersOptions = {},
): Promise<FreshServers> {
  const { folder } = environment.server;
  const core = unpinned ? null : SERVER_CORE;
  const ai = await startAiServer(stack, folder);
  const fresh = await prepareFreshInstallation(stack, environment, { ai, core, scheduler: false });
  const { db, databaseUrl, jwtSecret } = fresh;
  const users = await insertUsers(db, { count: connections, jwtSecret });
  const keys = await insertApiKeys(db, users);
  const tasks = await insertTasks(db, TASKS_EACH);
  const load = startLoad(stack, unpinned ? null : LOAD_CORE);

  /** With a line for each request, logs of all rounds would take gigabytes. */
  const removeLater = (stack: AsyncDisposableStack, log: string) =>
    closeWith(stack, () => rm(join(folder, log), { force: true }));

  return {
    buildTaskRequests: (prefix, credential = 'session') =>
      users.map(({ id, token }) => {
        const headers = { authorization: `Bearer ${credential === 'apiKey' ? keys.get(id) : token}` };
        return tasks.filter(({ userId }) => userId === id).map((task) => ({ path: `${prefix}/${task.id}`, headers }));
      }),
    async startCarillon(stack, options) {
      removeLater(stack, 'api.log');
      const installations = await fresh.start(stack, options);
      return installations.map(({ apiUrl }) => apiUrl);
    },
    async startBaseline(stack, name, { withLog } = { withLog: false }) {
      const requestLog = `${name}-requests.log`;
      removeLater(stack, requestLog);
      const { ready } = await startProcess(stack, {
        name,
        file: resolveProgram(`bench/src/baselines/http/${name}-main.ts`),
        folder,
        core,
        env: {
          DATABASE_URL: databaseUrl,
          JWT_SECRET: jwtSecret,
          NODE_ENV: 'production',
          ...(withLog && { LOG_FILE: join(folder, requestLog) }),
        },
        ready: /^ready at (\S+)$/m,
      });
      return [ready];
    },
    async measure(start, requests) {
      await using stack = new AsyncDisposableStack();
      const options = { url: await start(stack), connections, requests };
      await load.send({ ...options, until: environment.quick ? { requests: connections } : { seconds: 4 } });
      return await load.send({ ...options, until: environment.quick ? { requests: 2 * connections } : { seconds: 8 } });
    },
  };
}

export const describeLoad = ({ requestsPerSecond, p99Ms }: LoadResult) =>
  `${formatNumber(requestsPerSecond)} requests/s, p99 ${formatNumber(p99Ms)} ms`;

export const toRates = (results: readonly LoadResult[]) => results.map(({ requestsPerSecond }) => requestsPerSecond);
export const toLatencies = (results: readonly LoadResult[]) => results.map(({ p99Ms }) => p99Ms);
