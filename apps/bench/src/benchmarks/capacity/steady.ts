import { hashPassword } from '@carillon/api/product/auth/passwords';
import { LOAD_PASSWORD, type RequestKind } from '../../../../../test/system/mixed-load.ts';
import {
  insertApiKeys,
  insertTasks,
  insertUsers,
  setDue,
  type Task,
  type User,
} from '../../../../../test/system/users.ts';
import type { Benchmark, Comparison } from '../../benchmark.ts';
import { install } from '../../environment/installation.ts';
import type { LoadRequest } from '../../environment/load.ts';
import { readMemoryMb } from '../../environment/resources.ts';
import { formatNumber, median } from '../../statistics.ts';
import { vacuumAndCheckpoint } from '../due-tasks.ts';
import { type SteadyLoad, sendSteadyLoad } from './steady-load.ts';

const MINUTES = 10;
const CONNECTIONS = 50;
/** Enough that no user reaches a quota. */
const USERS = 1000;
/** The first one of a user is executed on demand, the others are due once during the load. */
const TASKS_EACH = 10;
const PER_SECOND = 50;
const MIX: readonly RequestKind[] = [
  'create',
  'execute',
  'list',
  'execute',
  'upload',
  'execute',
  'create',
  'list',
  'execute',
  'read',
];
export const steady: Benchmark = {
  about: `${MINUTES} minutes of mixed load: reads over ${CONNECTIONS} connections as fast as they are answered, beside ${PER_SECOND} other requests and 15 planned runs a second`,
  async run(stack, environment) {
    const { quick, server } = environment;
    const minuteMs = quick ? 1000 : 60_000;
    const minutes = quick ? 3 : MINUTES;
    const users = quick ? 20 : USERS;
    const { db, api, apiUrl, jwtSecret } = await install(stack, environment, { core: null });
    const people = await insertUsers(db, { count: users, jwtSecret, passwordHash: await hashPassword(LOAD_PASSWORD) });
    const keys = await insertApiKeys(
      db,
      people.filter((_, n) => n % 2 === 0),
    );
    const tasks = await insertTasks(db, quick ? 2 : TASKS_EACH);
    const [onDemand, planned] = [tasks.slice(0, users), tasks.slice(users)];
    await vacuumAndCheckpoint(db);
    await setDue(db, new Date(Date.now() + 1000), {
      intervalMs: (minutes * minuteMs) / planned.length,
      taskIds: planned.map(({ id }) => id),
    });

    const load: SteadyLoad = {
      url: apiUrl,
      minutes,
      minuteMs,
      connections: CONNECTIONS,
      reads: buildReads(people, keys, onDemand),
      others: [
        { users: people, tasks: onDemand, perSecond: PER_SECOND, mix: MIX },
        { users: people, tasks: onDemand, perSecond: 1, mix: ['login'] },
      ],
    };
    const samples = Array.from({ length: minutes }, () => [] as number[]);
    const loaded = await sendSteadyLoad(stack, {
      folder: server.folder,
      load,
      sample: (minute) => samples[minute]?.push(readMemoryMb(api.pid)),
    });
    const figures = loaded.map((minute, n) => ({ ...minute, memoryMb: median(samples[n] ?? []) }));
    figures.forEach(({ requestsPerSecond, p99Ms, memoryMb }, n) => {
      console.log(
        `  minute ${n + 1}: ${formatNumber(requestsPerSecond)} reads/s, p99 ${formatNumber(p99Ms)} ms, ${formatNumber(memoryMb)} MB`,
      );
    });
    const [second, middle, last] = [figures[1], figures[Math.ceil(minutes / 2) - 1], figures.at(-1)];
    if (!second || !middle || !last) throw new Error('The load has less than two minutes.');
    const compare = (what: string, unit: string, key: keyof typeof last): Comparison => ({
      what,
      unit,
      values: [last[key]],
      baseline: { name: 'Carillon in its second minute', values: [second[key]] },
    });
    const memory = compare('resident memory of the API in the last minute', 'MB', 'memoryMb');
    return [
      { ...compare('reads in the last minute', 'requests/s', 'requestsPerSecond'), aim: { atLeast: 0.97 }, note: NOTE },
      compare('reads in the last minute, p99', 'ms', 'p99Ms'),
      memory,
      {
        ...memory,
        baseline: { name: 'Carillon in the middle', values: [middle.memoryMb] },
        aim: { atMost: 1.05 },
        note: 'memory is the median of the samples of a minute, one a second. Node.js extends its heap to the size that the load needs during the first minutes, therefore the aim is for the second half',
      },
    ];
  },
};

const NOTE =
  'measured once. The first minute is for warming up. The reads are of tasks, of lists of tasks and of lists of executions, half of them with an API key; the other requests are executions on demand (four of ten), creations of tasks, lists, uploads and a login a second. The API may use all cores, because hashes of passwords have a lower priority than its requests and would starve beside them on one core. Every request must succeed. Tables grow meanwhile, autovacuum and checkpoints run as they do by default';

/** As many lists as connections. */
function buildReads(users: readonly User[], keys: ReadonlyMap<number, string>, tasks: readonly Task[]) {
  const reads: LoadRequest[][] = Array.from({ length: CONNECTIONS }, () => []);
  users.forEach(({ id, token }, n) => {
    const key = keys.get(id);
    const headers = { authorization: `Bearer ${key ?? token}` };
    const read = { path: `/api/tasks/${tasks.find(({ userId }) => userId === id)?.id}`, headers };
    const list = { path: key === undefined ? '/api/executions?limit=20' : '/api/tasks?limit=20', headers };
    reads[n % CONNECTIONS]?.push(read, read, read, list);
  });
  return reads.filter((requests) => requests.length > 0);
}
