import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { insertUsers, type User } from '../../../../test/system/users.ts';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { openEvents } from '../environment/event-client.ts';
import { install } from '../environment/installation.ts';
import { readMemoryMb, readProcessorSeconds } from '../environment/resources.ts';
import { formatNumber, p99 } from '../statistics.ts';

const STREAMS_EACH = 5;
const EVENTS_PER_SECOND = 100;

export const stream: Benchmark = {
  about: `from the commit of an event to its arrival, with 1,000 live streams at one process and ${EVENTS_PER_SECOND} events per second`,
  async run(_stack, environment) {
    const results = await measureInRounds(
      environment.rounds,
      { carillon: () => measure(environment) },
      ({ p99Ms, memoryMb, idleMb, cpuPercent }) =>
        `p99 ${formatNumber(p99Ms)} ms, ${formatNumber(memoryMb)} MB (${formatNumber(idleMb)} MB before), ${formatNumber(cpuPercent)} % of a core`,
    );
    const values = (key: keyof Figures) => results.carillon.map((figures) => figures[key]);
    return [
      {
        what: '99th percentile from the commit of an event to its arrival, 1,000 streams',
        unit: 'ms',
        values: values('p99Ms'),
        aim: { atMost: 250 },
        note: `measured from the start of the statement that commits; ${EVENTS_PER_SECOND} events per second over 200 users with 5 streams each`,
      },
      { what: 'memory of the process with 1,000 streams', unit: 'MB', values: values('memoryMb') },
      { what: 'memory of the same process before', unit: 'MB', values: values('idleMb') },
      { what: 'processor time of the process with 1,000 streams', unit: '% of a core', values: values('cpuPercent') },
    ];
  },
};

interface Figures {
  p99Ms: number;
  memoryMb: number;
  idleMb: number;
  cpuPercent: number;
}

async function measure(environment: Environment): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const [count, seconds] = environment.quick ? [2, 1] : [200, 30];
  const { db, apiUrl, api, jwtSecret } = await install(stack, environment, { scheduler: false });
  const users = await insertUsers(db, { count, jwtSecret });
  const idleMb = readMemoryMb(api.pid);
  const recordedAt = new Map<string, number>();
  const delaysMs: number[] = [];
  const open = users.flatMap((user) =>
    Array.from({ length: STREAMS_EACH }, () =>
      openEvents(apiUrl, user, ({ id, at }) => delaysMs.push(at - (recordedAt.get(`${user.id} ${id}`) ?? Number.NaN))),
    ),
  );
  const clients = await Promise.all(open);
  stack.defer(() => {
    for (const client of clients) client.close();
  });
  const refused = clients.filter(({ status }) => status !== 200).length;
  if (refused > 0) throw new Error(`${refused} of ${clients.length} streams were refused.`);

  const cpuBefore = readProcessorSeconds(api.pid);
  const startedAt = performance.now();
  const writes: Promise<void>[] = [];
  for (let n = 0; n < EVENTS_PER_SECOND * seconds; n++) {
    const user = users[n % users.length] as User;
    recordedAt.set(`${user.id} ${Math.floor(n / users.length) + 1}`, performance.now());
    writes.push(recordEvent(db, user));
    await delay(Math.max(0, startedAt + ((n + 1) * 1000) / EVENTS_PER_SECOND - performance.now()));
  }
  await Promise.all(writes);
  await delay(1000);
  const elapsedMs = performance.now() - startedAt;
  const cpuPercent = ((readProcessorSeconds(api.pid) - cpuBefore) / (elapsedMs / 1000)) * 100;
  const expected = writes.length * STREAMS_EACH;
  if (delaysMs.length !== expected) throw new Error(`${delaysMs.length} of ${expected} events arrived.`);
  if (delaysMs.some(Number.isNaN)) throw new Error('An event has an unexpected id.');
  return { p99Ms: p99(delaysMs), memoryMb: readMemoryMb(api.pid), idleMb, cpuPercent };
}

async function recordEvent(db: Db, { id }: User): Promise<void> {
  const data = JSON.stringify({ task: { id: 1, name: 'Morning sentence' }, changes: {} });
  await db.execute(sql`
    with position as (
      insert into event_positions as p (user_id, last_id) values (${id}, 1)
      on conflict (user_id) do update set last_id = p.last_id + 1 returning last_id
    )
    insert into events (user_id, id, kinds, data, created_at)
    select ${id}::int, last_id, '{task.updated}', ${data}::text, now() from position`);
}
