import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword } from '@carillon/api/product/auth/passwords';
import { Client } from 'undici';
import { resolveProgram, startProcess } from '../../../../test/system/processes.ts';
import { closeWith } from '../../../../test/system/shutdown.ts';
import { insertTasks, insertUsers } from '../../../../test/system/users.ts';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { type LoadOptions, startLoad } from '../environment/load.ts';
import { formatNumber, p99 } from '../statistics.ts';

const PASSWORD = 'Carillon-2026';
const CONNECTIONS = 8;
const USERS = 50;
const READ_EVERY_MS = 20;
/** As many hashes as the API computes at once. */
const IN_FLIGHT = Math.min(availableParallelism(), 4);

export const logins: Benchmark = {
  about: `logins of ${USERS} users over ${CONNECTIONS} connections on all cores, with reads of another user at the same time`,
  async run(stack, environment) {
    const hash = await hashPassword(PASSWORD);
    const { db, apiUrl, jwtSecret } = await install(stack, environment, { scheduler: false, core: null });
    const users = await insertUsers(db, { count: USERS, jwtSecret, passwordHash: hash });
    const [task] = await insertTasks(db, 1);
    const reader = users.find(({ id }) => id === task?.userId);
    const others = users.filter((user) => user !== reader);
    const read = createReader(stack, apiUrl, { path: `/api/tasks/${task?.id}`, token: reader?.token ?? '' });
    const load = startLoad(stack);
    const requests: LoadOptions['requests'] = Array.from({ length: CONNECTIONS }, (_, connection) =>
      others
        .filter((_, n) => n % CONNECTIONS === connection)
        .map(({ email }) => ({
          method: 'POST',
          path: '/api/auth/login',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password: PASSWORD }),
        })),
    );
    const signIn = (until: LoadOptions['until'], url = apiUrl) =>
      load.send({ url, connections: CONNECTIONS, requests, until });
    const seconds = 8;
    await signIn({ requests: environment.quick ? 8 : 50 });
    await read(environment.quick ? 5 : 100);
    const measured: LoadOptions['until'] = environment.quick ? { requests: 16 } : { seconds };
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: async () => (await signIn(measured)).requestsPerSecond,
        argon2Http: async () => {
          await using round = new AsyncDisposableStack();
          const url = await startHashServer(round, environment, hash);
          await signIn({ requests: 8 }, url);
          return (await signIn(measured, url)).requestsPerSecond;
        },
        argon2: () => measureVerifications(stack, environment, { hash, ms: environment.quick ? 200 : seconds * 1000 }),
        readsOnly: () => read(environment.quick ? 10 : (seconds * 1000) / READ_EVERY_MS),
        readsDuringLogins: async () => {
          const signingIn = signIn(environment.quick ? { requests: 24 } : { seconds });
          await delay(200);
          const ms = await read(environment.quick ? 10 : ((seconds - 1) * 1000) / READ_EVERY_MS / 2);
          await signingIn;
          return ms;
        },
      },
      formatNumber,
    );
    return [
      {
        what: 'logins',
        unit: 'logins/s',
        values: results.carillon,
        baseline: { name: 'argon2 verifications behind bare Fastify', values: results.argon2Http },
        aim: { atLeast: 0.9 },
        note: `the load generator shares the cores with the logins and the bare Fastify, which has no database; each computes ${IN_FLIGHT} hashes at once`,
      },
      {
        what: 'logins',
        unit: 'logins/s',
        values: results.carillon,
        baseline: { name: 'argon2 verifications without HTTP and without a load generator', values: results.argon2 },
      },
      {
        what: 'GET /api/tasks/:id during logins, p99',
        unit: 'ms',
        values: results.readsDuringLogins,
        baseline: { name: 'the same without logins', values: results.readsOnly },
        aim: { atMost: 2 },
      },
    ];
  },
};

/** The returned function reads sequentially, at most every 20 ms, and returns the 99th percentile in milliseconds. */
function createReader(stack: AsyncDisposableStack, url: string, { path, token }: { path: string; token: string }) {
  const client = new Client(url);
  closeWith(stack, () => client.destroy());
  return async (count: number) => {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const startedAt = performance.now();
      const { statusCode, body } = await client.request({
        path,
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      const ms = performance.now() - startedAt;
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}.`);
      times.push(ms);
      await delay(Math.max(0, READ_EVERY_MS - ms));
    }
    return p99(times);
  };
}

/** Returns the URL. */
async function startHashServer(stack: AsyncDisposableStack, { server }: Environment, hash: string): Promise<string> {
  const { ready } = await startProcess(stack, {
    name: 'argon2-http',
    file: resolveProgram('bench/src/baselines/argon2-http-main.ts'),
    folder: server.folder,
    env: { HASH: hash, UV_THREADPOOL_SIZE: String(IN_FLIGHT), NODE_ENV: 'production' },
    ready: /^ready at (\S+)$/m,
  });
  return ready;
}

async function measureVerifications(
  stack: AsyncDisposableStack,
  { server }: Environment,
  { hash, ms }: { hash: string; ms: number },
) {
  const { ready } = await startProcess(stack, {
    name: 'argon2',
    file: resolveProgram('bench/src/baselines/argon2-main.ts'),
    folder: server.folder,
    env: { HASH: hash, PASSWORD, MS: String(ms), IN_FLIGHT: String(IN_FLIGHT) },
    ready: /^done: (\S+) per second$/m,
  });
  return Number(ready);
}
