import { eventStreams } from '@carillon/db';
import t from 'tap';
import type { Caller } from '../../src/context.ts';
import { buildApp } from '../../src/entry/app.ts';
import { createLiveStream, MAX_BUFFERED_BYTES } from '../../src/platform/events/live-stream.ts';
import { createLiveStreams } from '../../src/platform/events/live-streams.ts';
import { eventsRoutes } from '../../src/platform/events/routes.ts';
import { testContext } from '../support/context.ts';
import { openStream } from '../support/live-stream.ts';
import { findCallerByToken, type Person, signUp } from '../support/people.ts';
import { until } from '../support/until.ts';
import { recordManyEvents } from '../support/webhooks.ts';

const USERS = 10;
const STREAMS_EACH = 5;
const EVENT_BYTES = 250_000;
/** Far more than the operating system buffers for a connection. */
const MAX_EVENTS = 200;

const { app, ctx, logged } = await testContext(t);

function openBuffer() {
  const filter = { kinds: null, taskId: null };
  const stream = createLiveStream({ userId: 1, leaseId: 'a', after: 0, isReset: false, filter });
  let lastId = 0;
  const add = (bytes: number) => {
    lastId += 1;
    const event = { id: lastId, kind: 'test' as const, taskId: null, frame: Buffer.alloc(bytes) };
    stream.add({ cursor: { userId: 1, after: lastId - 1 }, events: [event], lastId });
  };
  return { stream, body: stream.body, add };
}

t.test('A reader is cut off by the first byte beyond 1 MiB that waits', async (t) => {
  const { body, add } = openBuffer();
  add(MAX_BUFFERED_BYTES - body.readableLength);
  t.equal(body.readableLength, MAX_BUFFERED_BYTES);
  t.notOk(body.destroyed);
  add(1);
  t.ok(body.destroyed);
});

t.test('What a reader has read does not count, and one event may be larger than 1 MiB', async (t) => {
  const { body, add } = openBuffer();
  for (let n = 0; n < 10; n++) {
    body.read();
    add(n === 5 ? 3 * MAX_BUFFERED_BYTES : MAX_BUFFERED_BYTES);
  }
  t.notOk(body.destroyed);
});

t.test('A reader that reads nothing of what waits is cut off after four comments', async (t) => {
  const { stream, body } = openBuffer();
  const keepAlive = (times: number) => {
    for (let n = 0; n < times; n++) stream.keepAlive();
  };
  keepAlive(3);
  t.ok(body.read(1), 'it reads a byte');
  keepAlive(4);
  t.ok(body.read(), 'and everything');
  keepAlive(4);
  t.notOk(body.destroyed);
  keepAlive(1);
  t.ok(body.destroyed);
});

t.test(
  'Readers with most waiting are cut off before all together use more than the memory of the process allows',
  async (t) => {
    const maxBufferedBytes = 2 * MAX_BUFFERED_BYTES;
    const streams = createLiveStreams(ctx, { maxBufferedBytes });
    t.teardown(() => streams.stop());
    const open = async ({ token }: Person) => {
      const caller = await findCallerByToken(ctx, token);
      return streams.open(ctx, caller as Caller, { after: null, filter: { kinds: null, taskId: null } });
    };
    const [one, two] = [await signUp(app), await signUp(app)];
    const slow = await Promise.all([one, one, one, one, two, two].map(open));
    const read = await open(two);
    let received = 0;
    read.on('data', ({ length }) => {
      received += length;
    });
    const data = { text: 'x'.repeat(EVENT_BYTES) };
    for (let n = 1; n <= 3; n++) {
      // Together less than 1 MiB for each reader.
      await Promise.all([one, two].map(({ id }) => recordManyEvents(ctx, id, 1, 'test', data)));
      await until(() => received > n * EVENT_BYTES);
      const open = slow.filter((body) => !body.destroyed);
      t.ok(open.reduce((sum, body) => sum + body.readableLength, 0) <= maxBufferedBytes);
    }
    t.ok(slow.some((body) => body.destroyed));
    t.ok(
      slow.some((body) => !body.destroyed),
      'not more than necessary',
    );
    t.notOk(read.destroyed, 'the one that reads stays');
    t.match(
      logged.find(({ msg }) => msg === 'slow readers of live streams were cut off to free memory'),
      { maxBufferedBytes, streams: Number },
    );
  },
);

t.test('Of 50 readers that do not read each is cut off, while others read and are answered', async (t) => {
  const server = await buildApp(ctx, {
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    routes: (app) => void app.register(eventsRoutes, { ctx, prefix: '/small', maxStreams: USERS * STREAMS_EACH + 1 }),
  });
  t.teardown(() => server.close());
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const open = async ({ headers }: Person, isPaused: boolean) => {
    const stream = await openStream(url, { headers: { ...headers }, path: '/small/api/events', isPaused });
    t.teardown(stream.close);
    return stream;
  };
  const openAll = (person: Person) => Promise.all(Array.from({ length: STREAMS_EACH }, () => open(person, true)));

  const people = await Promise.all(Array.from({ length: USERS }, () => signUp(app)));
  const [first, ...others] = people as [Person, ...Person[]];
  const reading = await signUp(app);
  const slow = await openAll(first);
  t.equal((await open(first, false)).status, 429, 'the sixth of a user');
  slow.push(...(await Promise.all(others.map(openAll))).flat());
  const quick = await open(reading, false);
  t.same(new Set([...slow, quick].map(({ status }) => status)), new Set([200]));
  t.equal((await open(reading, false)).status, 503, 'one more than the process takes');

  const data = { text: 'x'.repeat(EVENT_BYTES) };
  let recorded = 0;
  while ((await ctx.db.$count(eventStreams)) > 1 && recorded < MAX_EVENTS) {
    await Promise.all(people.map(({ id }) => recordManyEvents(ctx, id, 1, 'test', data)));
    await recordManyEvents(ctx, reading.id, 1);
    recorded += 1;
    await quick.waitFor(recorded);
    t.equal((await app.inject({ url: '/api/tasks', headers: reading.headers })).statusCode, 200);
  }
  t.equal(await ctx.db.$count(eventStreams), 1, 'the one that is read');
  t.ok(quick.isOpen());
  t.equal((await open(reading, false)).status, 200, 'the process takes streams again');
  t.comment(`cut off after ${recorded} events of ${EVENT_BYTES} bytes`);
});
