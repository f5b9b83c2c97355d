import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, eventStreams, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark, Environment } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { readMemoryMb } from '../environment/resources/memory.ts';
import { insertUsers, type User } from '../environment/users.ts';
import { formatNumber, printPercentiles } from '../statistics.ts';

const MAX_STREAMS = 1000;
const MAX_STREAMS_EACH = 5;
const EVENT_BYTES = 100_000;
const ROUND_MS = 500;
const MAX_MS = 100_000;
const PROBE_MS = 50;
const AT_ONCE = 50;

export const slowReaders: Benchmark = {
  about: 'memory of a process and its other answers while 1,000 live streams with large events are not read',
  async run(_stack, environment) {
    for (const each of [MAX_STREAMS_EACH, 1]) await measure(environment, each);
    return [];
  },
};

async function measure(environment: Environment, each: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const streams = environment.quick ? 20 : MAX_STREAMS;
  const { db, apiUrl, api, jwtSecret } = await install(stack, environment, { scheduler: false });
  const [probing, ...slow] = (await insertUsers(db, { count: 1 + streams / each, jwtSecret })) as [User, ...User[]];
  const idleMb = readMemoryMb(api.pid);

  const readers = new Set<Reader>();
  stack.defer(() => {
    for (const { socket } of readers) socket.destroy();
  });
  const open = async (user: User) => {
    const reader = await openUnread(apiUrl, user);
    readers.add(reader);
    return reader.status;
  };
  const wanted = slow.flatMap((user) => Array.from({ length: each }, () => user));
  const statuses = await openAll(wanted.splice(0, MAX_STREAMS_EACH), open);
  const sixth = each === MAX_STREAMS_EACH ? await open(slow[0] as User) : null;
  while (wanted.length > 0) statuses.push(...(await openAll(wanted.splice(0, AT_ONCE), open)));
  const beyond = streams === MAX_STREAMS ? await open(probing) : null;
  const refused = statuses.filter((status) => status !== 200).length;
  if (refused > 0) throw new Error(`${refused} of ${streams} streams were refused.`);
  if ((sixth ?? 429) !== 429 || (beyond ?? 503) !== 503) throw new Error(`Beyond the limits: ${sixth}, ${beyond}`);
  const openMb = readMemoryMb(api.pid);

  const answers = probe(apiUrl, probing);
  const startedAt = performance.now();
  let rounds = 0;
  let left = streams;
  while (left > 0 && performance.now() - startedAt < MAX_MS) {
    await recordEvents(db, slow);
    rounds += 1;
    await delay(ROUND_MS);
    left = await db.$count(eventStreams);
  }
  const cutAfterMs = performance.now() - startedAt;
  const mostMb = readMemoryMb(api.pid, 'most resident');
  await delay(environment.quick ? 0 : 5000);
  const durations = await answers.stop();

  console.log(`  ${slow.length} users with ${each} streams each, events of ${EVENT_BYTES / 1000} kB`);
  console.log(`  beyond the limits: the sixth stream of a user ${sixth ?? '–'}, the 1,001st ${beyond ?? '–'}`);
  console.log(`  ${streams - left} of ${streams} cut off after ${rounds} events each, ${Math.round(cutAfterMs)} ms`);
  const figures = { before: idleMb, 'streams open': openMb, most: mostMb, afterwards: readMemoryMb(api.pid) };
  console.log(
    `  memory: ${Object.entries(figures)
      .map(([when, mb]) => `${when} ${formatNumber(mb)} MB`)
      .join(', ')}`,
  );
  printPercentiles({ [`  ${durations.length} other requests (ms)`]: durations });
  if (left > 0) throw new Error(`${left} streams that are not read are still open.`);
}

interface Reader {
  status: number;
  socket: Socket;
}

/** Opens a stream and reads nothing of it beyond what its first packet has. */
async function openUnread(apiUrl: string, { token }: User): Promise<Reader> {
  const { hostname, port } = new URL(apiUrl);
  const socket = connect(Number(port), hostname);
  const lines = ['GET /api/events HTTP/1.1', 'Host: x', 'Accept: text/event-stream', `Authorization: Bearer ${token}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.on('data', () => socket.pause());
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.on('error', () => {});
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString('latin1'))?.[1]), socket };
}

const openAll = <T>(users: readonly User[], open: (user: User) => Promise<T>) => Promise.all(users.map(open));

/** Sends one request after the other until `stop`, which returns their durations. Throws if one is refused. */
function probe(apiUrl: string, { token }: User) {
  const durations: number[] = [];
  let isStopping = false;
  const ended = (async () => {
    while (!isStopping) {
      const since = performance.now();
      const response = await fetch(`${apiUrl}/api/tasks`, { headers: { authorization: `Bearer ${token}` } });
      const body = await response.text();
      if (response.status !== 200) throw new Error(`Another request was answered ${response.status}: ${body}`);
      durations.push(performance.now() - since);
      await delay(PROBE_MS);
    }
  })();
  ended.catch(() => {});
  return {
    async stop() {
      isStopping = true;
      await ended;
      return durations;
    },
  };
}

/** Records a large event for each user. */
async function recordEvents(db: Db, users: readonly User[]): Promise<void> {
  const ids = `{${users.map(({ id }) => id).join(',')}}`;
  await queryRows(
    db,
    sql`
    with position as (
      insert into event_positions as p (user_id, last_id) select id, 1 from unnest(${ids}::int[]) id
      on conflict (user_id) do update set last_id = p.last_id + 1 returning user_id, last_id
    )
    insert into events (user_id, id, kinds, data, created_at)
    select user_id, last_id, '{test}', '{"text":"' || repeat('x', ${EVENT_BYTES}::int) || '"}', now() from position`,
  );
}
