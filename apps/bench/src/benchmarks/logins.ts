import { setTimeout as delay } from 'node:timers/promises';
import { hashPassword } from '@carillon/api/auth/passwords';
import { Client } from 'undici';
import type { Benchmark, Environment } from '../benchmark.ts';
import { measureInRounds } from '../comparison.ts';
import { install } from '../environment/installation.ts';
import { type LoadOptions, startLoad } from '../environment/load.ts';
import { resolveProgram, startProcess } from '../environment/processes.ts';
import { closeWith } from '../environment/shutdown.ts';
import { insertTasks, insertUsers } from '../environment/users.ts';
import { formatNumber, p99 } from '../statistics.ts';

const PASSWORD = 'Carillon-2026';
/** So many people sign in at the same time, over and over. */
const CONNECTIONS = 8;
const PEOPLE = 50;
const READ_EVERY_MS = 20;

/** What signing in costs beside its hash, and what it costs everybody else. */
export const logins: Benchmark = {
  about: `logins of ${PEOPLE} people over ${CONNECTIONS} connections on all cores, and reads of somebody else meanwhile`,
  async run(stack, environment) {
    const hash = await hashPassword(PASSWORD);
    const { db, apiUrl, jwtSecret } = await install(stack, environment, { scheduler: false, core: null });
    const people = await insertUsers(db, { count: PEOPLE, jwtSecret, passwordHash: hash });
    const [task] = await insertTasks(db, 1);
    const reader = people.find(({ id }) => id === task?.userId);
    const others = people.filter((person) => person !== reader);
    const read = createReader(stack, apiUrl, { path: `/api/tasks/${task?.id}`, token: reader?.token ?? '' });
    const load = startLoad(stack);
    const requests: LoadOptions['requests'] = Array.from({ length: CONNECTIONS }, (_, lane) =>
      others
        .filter((_, n) => n % CONNECTIONS === lane)
        .map(({ email }) => ({
          method: 'POST',
          path: '/api/auth/login',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password: PASSWORD }),
        })),
    );
    const signIn = (until: LoadOptions['until']) =>
      load.send({ url: apiUrl, connections: CONNECTIONS, requests, until });
    const seconds = 8;
    await signIn({ requests: environment.quick ? 8 : 50 });
    await read(environment.quick ? 5 : 100);
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: async () => (await signIn(environment.quick ? { requests: 16 } : { seconds })).requestsPerSecond,
        argon2: () => measureVerifications(stack, environment, { hash, ms: environment.quick ? 200 : seconds * 1000 }),
        alone: () => read(environment.quick ? 10 : (seconds * 1000) / READ_EVERY_MS),
        meanwhile: async () => {
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
        baseline: { name: 'argon2 verifications alone, two in flight', values: results.argon2 },
        aim: { atLeast: 0.95 },
        note: 'the load shares the cores with the logins',
      },
      {
        what: 'GET /api/tasks/:id while people sign in, p99',
        unit: 'ms',
        values: results.meanwhile,
        baseline: { name: 'the same while nobody does', values: results.alone },
        aim: { atMost: 3 },
      },
    ];
  },
};

/** The 99th percentile of so many reads, one every 20 ms, or as soon as the one before is answered. */
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

async function measureVerifications(
  stack: AsyncDisposableStack,
  { server }: Environment,
  { hash, ms }: { hash: string; ms: number },
) {
  const { ready } = await startProcess(stack, {
    name: 'argon2',
    file: resolveProgram('baselines/argon2-main.ts'),
    folder: server.folder,
    env: { HASH: hash, PASSWORD, MS: String(ms) },
    ready: /^done: (\S+) a second$/m,
  });
  return Number(ready);
}
