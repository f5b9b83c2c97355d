import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark } from '../benchmark.ts';
import { openEvents } from '../environment/event-client.ts';
import { install } from '../environment/installation.ts';
import { insertTasks, insertUsers, type Task, type User } from '../environment/users.ts';

const WRITERS = 4;
const READERS_EACH = 5;
const MAX_CONNECTED_MS = 1500;
const TIMEOUT_MS = 60_000;

export const eventReaders: Benchmark = {
  about:
    'missing and repeated events of 20 readers that connect again at random for 60 s, with 4 writers, 2 API processes and one of them killed',
  async run(stack, environment) {
    const seconds = environment.quick ? 2 : 60;
    const jwtSecret = 'one secret for both processes, as in an installation';
    const apiEnv = { JWT_SECRET: jwtSecret };
    const { db, databaseUrl, ...first } = await install(stack, environment, { apiEnv, scheduler: false });
    const second = await install(stack, environment, { apiEnv, databaseUrl, scheduler: false });
    const urls = [first.apiUrl, second.apiUrl];
    const users = await insertUsers(db, { count: 4, jwtSecret });
    const tasks = await insertTasks(db, 1);

    const stopAt = performance.now() + seconds * 1000;
    const reading = { lastIds: new Map<number, number>(), connections: 0, refusals: 0 };
    const readers = users.flatMap((user) => Array.from({ length: READERS_EACH }, () => read(urls, user, reading)));
    const writers = Array.from({ length: WRITERS }, (_, n) => write(urls, users, tasks, { first: n, stopAt }));
    await delay(seconds * 500);
    second.api.signal('SIGKILL');
    const written = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
    for (const { userId, lastId } of await readPositions(db)) reading.lastIds.set(userId, Number(lastId));
    const read20 = await Promise.all(readers);

    const wrong = read20.filter(({ ids, userId }) => ids.join() !== countTo(reading.lastIds.get(userId) ?? 0).join());
    const logged = [...reading.lastIds.values()].reduce((sum, id) => sum + id, 0);
    console.log(
      `${written} answered writes, ${logged} events, ${reading.connections} connections, ${reading.refusals} refusals`,
    );
    console.log(`${wrong.length} of ${read20.length} readers have missed, repeated or reordered an event.`);
    if (wrong.length > 0 || logged < written) throw new Error('Events are missing, repeated or in the wrong order.');
    return [];
  },
};

const countTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

const readPositions = (db: Db) =>
  queryRows<{ userId: number; lastId: string }>(
    db,
    sql`select user_id as "userId", last_id as "lastId" from event_positions`,
  );

async function read(
  urls: readonly string[],
  { id: userId, token }: User,
  reading: { lastIds: ReadonlyMap<number, number>; connections: number; refusals: number },
) {
  const ids: number[] = [];
  let giveUpAt = Number.POSITIVE_INFINITY;
  while (ids.at(-1) !== reading.lastIds.get(userId) || reading.lastIds.size === 0) {
    if (reading.lastIds.size > 0) giveUpAt = Math.min(giveUpAt, performance.now() + TIMEOUT_MS);
    if (performance.now() > giveUpAt) break;
    const url = urls[Math.floor(Math.random() * urls.length)] as string;
    let isOpen = true;
    const client = await openEvents(url, { token, after: ids.at(-1) ?? 0 }, ({ id }) => {
      if (isOpen) ids.push(id);
    }).catch(() => null);
    if (client?.status !== 200) {
      reading.refusals += 1;
      await delay(100);
      continue;
    }
    reading.connections += 1;
    await Promise.race([client.closed, delay(Math.random() * MAX_CONNECTED_MS)]);
    isOpen = false;
    client.close();
  }
  return { userId, ids };
}

/** Changes the tasks of all users in turn, at both processes. Returns how many changes were answered. */
async function write(
  urls: readonly string[],
  users: readonly User[],
  tasks: readonly Task[],
  { first, stopAt }: { first: number; stopAt: number },
): Promise<number> {
  let answered = 0;
  for (let n = first; performance.now() < stopAt; n++) {
    const task = tasks[n % tasks.length] as Task;
    const { token } = users.find(({ id }) => id === task.userId) as User;
    const response = await fetch(`${urls[n % 2]}/api/tasks/${task.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: `Task of writer ${first}, number ${n}` }),
    }).catch(() => null);
    if (response?.ok) answered += 1;
    await response?.text().catch(() => '');
  }
  return answered;
}
