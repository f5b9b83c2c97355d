import { setTimeout as delay } from 'node:timers/promises';
import { eventPositions, eventStreams, events } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { openStream } from '../support/live-stream.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { startApiProcess, until } from './api-process.ts';
import { JWT_SECRET, signInAll } from './clients.ts';
import { insertDueTasks, insertPeople } from './due-tasks.ts';
import { readWithInterruptions } from './event-readers.ts';

const WRITING_MS = 5000;
const WRITERS = 4;
const READERS_PER_USER = 5;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

const { db, url: databaseUrl } = await testDatabase(t);
const ai = await startAiServer({ delayMs: 20 });
t.teardown(ai.close);
const settings = { databaseUrl, aiUrl: ai.url, env: { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '100000' } };
const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
const urls = [one.url, two.url];

// It takes some seconds until the end of the session shows, so the other test runs meanwhile.
const [leaving, staying] = (await signInAll(db, await insertPeople(db, 2))) as [string, string];
const open = (url: string, token: string) => openStream(url, { headers: { authorization: `Bearer ${token}` } });
const left = await open(one.url, leaving);
await fetch(`${two.url}/api/auth/logout`, { method: 'POST', headers: { authorization: `Bearer ${leaving}` } });
const ended = Promise.race([left.ended, delay(15_000)]);

t.test('Of 20 readers that connect again at random, each has each event exactly once, in order', async (t) => {
  const userIds = await insertPeople(db, 4);
  const tokens = await signInAll(db, userIds);
  const taskIds = await insertDueTasks(db, { userIds, perUser: 1, at: new Date(Date.now() + YEAR_MS) });
  let lastIds: Map<number, number> | null = null;
  const readers = userIds.flatMap((userId, n) =>
    Array.from({ length: READERS_PER_USER }, async () => {
      const getLastId = () => lastIds?.get(userId) ?? null;
      return { userId, ...(await readWithInterruptions({ urls, token: tokens[n] as string, getLastId })) };
    }),
  );

  const stopAt = performance.now() + WRITING_MS;
  let written = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = writer; performance.now() < stopAt; n++) {
        const user = n % userIds.length;
        const response = await fetch(`${urls[n % 2]}/api/tasks/${taskIds[user]}`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${tokens[user]}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `Written by ${writer}, number ${n}` }),
        });
        if (response.status !== 200) throw new Error(await response.text());
        written += 1;
      }
    }),
  );
  const positions = await db.select().from(eventPositions);
  lastIds = new Map(positions.map(({ userId, lastId }) => [userId, lastId]));
  const readings = await Promise.all(readers);

  let logged = 0;
  for (const userId of userIds) {
    const rows = await db
      .select({ id: events.id })
      .from(events)
      .where(eq(events.userId, userId))
      .orderBy(asc(events.id));
    logged += rows.length;
    const expected = rows.map(({ id }) => id);
    for (const reading of readings.filter((reading) => reading.userId === userId)) {
      t.strictSame(reading.ids, expected);
      t.equal(reading.resets, 0);
    }
  }
  t.equal(logged, written);
  const connections = readings.reduce((sum, reading) => sum + reading.connections, 0);
  t.ok(connections > readings.length, 'readers did connect again');
  t.comment(`${written} events, ${connections} connections`);
});

t.test('A stream ends within 15 s after its user signs out, and at once when its process stops', async (t) => {
  const [stayed, elsewhere] = await Promise.all([open(one.url, staying), open(two.url, staying)]);
  await ended;
  t.notOk(left.isOpen());
  t.ok(stayed.isOpen());

  one.signal('SIGTERM');
  await stayed.ended;
  t.ok(stayed.response.complete, 'with a proper end');
  t.ok(elsewhere.isOpen());
  t.equal((await one.ended).code, 0);
  await until(async () => (await db.$count(eventStreams)) === 1);
  elsewhere.close();
});
