import { apiKeys, eventPositions, eventStreams, events, rateWindows, sessions, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import type { Context } from '../../src/context.ts';
import { buildApp } from '../../src/entry/app.ts';
import { eventsRoutes } from '../../src/platform/events/routes.ts';
import { testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { openStream as connect, type Stream } from '../support/live-stream.ts';
import { type Person, signUp } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import { until } from '../support/until.ts';
import { connectSecondProcess, recordManyEvents } from '../support/webhooks.ts';

/** Routes with short intervals, and with room for few streams. */
const QUICK = '/quick';
const SMALL = '/small';

const addRoutes = async (ctx: Context) => {
  const app = await buildApp(ctx, {
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    routes(app) {
      app.register(eventsRoutes, { ctx, prefix: QUICK, keepAliveMs: 20, renewMs: 20 });
      app.register(eventsRoutes, { ctx, prefix: SMALL, maxStreams: 3 });
    },
  });
  t.teardown(() => app.close());
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
};

const test = await testContext(t);
const { ctx } = test;
const { app, url } = await addRoutes(ctx);
const { url: otherUrl } = await addRoutes(connectSecondProcess(t, test));

let alice: Person;
t.beforeEach(async () => {
  alice = await signUp(test.app);
});

async function openStream(t: Test, given: Parameters<typeof connect>[1] & { at?: string } = {}) {
  const stream = await connect(given.at ?? url, { headers: { ...alice.headers }, ...given });
  t.teardown(stream.close);
  return stream;
}
const record = (count: number, n = 0) => recordManyEvents(ctx, alice.id, count, n % 2 ? 'task.created' : undefined);
const idsOf = (stream: Stream) => stream.events().map(({ id }) => Number(id));
const countUp = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const countStreams = () => ctx.db.$count(eventStreams, eq(eventStreams.userId, alice.id));

t.test('A stream begins now and passes on each event as the list has it', async (t) => {
  await record(1);
  const stream = await openStream(t);
  t.match(stream.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  t.same(stream.frames, [{ retry: '2000', id: '1' }], 'with its position, so that a client can come back to it');
  await postTask(app, alice);
  await stream.waitFor(1);
  const list = await app.inject({ method: 'GET', url: '/api/events?after=1', headers: alice.headers });
  t.same(stream.events(), list.json().events);
  const [, frame] = stream.frames;
  t.match(frame, { id: '2', event: 'task.created' });
});

t.test('A stream resumes after the last id without a gap and without a repeat, at any process', async (t) => {
  const first = await openStream(t);
  await record(3);
  await first.waitFor(3);
  first.close();
  await record(3);
  const byHeader = await openStream(t, { at: otherUrl, lastEventId: '3', query: '?after=1' });
  const byQuery = await openStream(t, { query: '?after=0' });
  const idle = await openStream(t, { at: otherUrl, lastEventId: '6' });
  await record(2);
  await Promise.all([byHeader.waitFor(5), byQuery.waitFor(8), idle.waitFor(2)]);
  t.same(idsOf(byHeader), countUp(4, 8));
  t.same(idsOf(byQuery), countUp(1, 8));
  t.same(idsOf(idle), [7, 8]);
});

t.test('A client that has had no event yet comes back to where it began', async (t) => {
  const first = await openStream(t);
  first.close();
  await record(2);
  const second = await openStream(t, { lastEventId: first.lastId() });
  await second.waitFor(2);
  t.same(idsOf(second), [1, 2]);
  t.notMatch(second.frames, [{ event: 'reset' }]);
});

t.test('An id that is no longer stored begins with reset, then with the oldest event', async (t) => {
  await record(5);
  await ctx.db.delete(events).where(sql`user_id = ${alice.id} and id <= 3`);
  for (const lastEventId of ['0', '2', '3']) {
    const stream = await openStream(t, { lastEventId });
    await stream.waitFor(2);
    t.match(stream.frames[0], { event: 'reset', data: '{"after":"3"}', id: '3' });
    t.same(idsOf(stream), [4, 5], lastEventId);
    stream.close();
  }
  await ctx.db.delete(events).where(eq(events.userId, alice.id));
  const empty = await openStream(t, { lastEventId: '4' });
  t.match(empty.frames, [{ event: 'reset', id: '5' }]);
  await record(1);
  await empty.waitFor(1);
  t.same(idsOf(empty), [6]);
});

t.test('A stream after an id that the user does not have begins now, and an invalid after is refused', async (t) => {
  await record(2);
  for (const lastEventId of ['3', '999999999999999', 'abc', '-1', '1.5', '1, 2', '99999999999999999999', "1'--"]) {
    const stream = await openStream(t, { lastEventId });
    t.same(stream.frames, [{ retry: '2000', id: '2' }], lastEventId);
    stream.close();
    await stream.ended;
    await until(async () => (await countStreams()) === 0);
  }
  const refused = await openStream(t, { query: '?after=abc' });
  t.equal(refused.status, 400);
  t.match(JSON.parse(refused.body()), { details: { after: [/./] } });
  t.equal((await openStream(t, { query: '?kinds=task.gone' })).status, 400);
});

t.test('Nothing of another user is passed on for any id', async (t) => {
  const bob = await signUp(test.app, { name: 'Bob' });
  await recordManyEvents(ctx, bob.id, 5);
  const stream = await openStream(t, { query: '?after=0' });
  await recordManyEvents(ctx, bob.id, 5);
  await record(1);
  await stream.waitFor(1);
  t.same(idsOf(stream), [1]);
  t.equal(stream.frames.length, 2);
  const anonymous = await connect(url, {});
  t.equal(anonymous.status, 401);
});

t.test('Kinds and task narrow a stream, whose id also advances with other events', async (t) => {
  const taskId = await postTask(app, alice);
  const ofTask = await openStream(t, { query: `?after=0&taskId=${taskId}`, path: `${QUICK}/api/events` });
  const ofKind = await openStream(t, { query: '?after=0&kinds=task.deleted,test' });
  await record(3);
  await app.inject({ method: 'DELETE', url: `/api/tasks/${taskId}`, headers: alice.headers });
  await Promise.all([ofTask.waitFor(2), ofKind.waitFor(1)]);
  t.same(
    ofTask.events().map(({ event }) => event),
    ['task.created', 'task.deleted'],
  );
  t.same(idsOf(ofKind), [5]);
  await record(1);
  await until(() => ofTask.lastId() === '6');
  t.ok(
    ofTask.frames.some(({ comment, id }) => comment === 'keep-alive' && id === '6'),
    'in a comment',
  );
});

t.test('A comment keeps an idle connection alive', async (t) => {
  const stream = await openStream(t, { path: `${QUICK}/api/events` });
  await until(() => stream.frames.filter(({ comment }) => comment === 'keep-alive').length >= 3);
  t.same(stream.events(), []);
});

t.test('Of 20 streams that a user opens at once over two processes, 5 are open and 15 refused', async (t) => {
  const streams = await Promise.all(
    Array.from({ length: 20 }, (_, n) => openStream(t, { at: n % 2 ? url : otherUrl })),
  );
  const refused = streams.filter(({ status }) => status === 429);
  t.equal(streams.filter(({ status }) => status === 200).length, 5);
  t.equal(refused.length, 15);
  t.match(JSON.parse(refused[0]?.body() ?? ''), {
    error: 'Rate limit exceeded',
    message: 'You have 5 live streams open. Close one first.',
    details: { limit: 5, remaining: 0 },
  });
  t.equal(refused[0]?.headers['retry-after'], '15');
  const bob = await signUp(test.app, { name: 'Bob' });
  const ofBob = await connect(url, { headers: { ...bob.headers } });
  t.equal(ofBob.status, 200, 'another user is not affected');
  ofBob.close();

  streams.find(({ status }) => status === 200)?.close();
  await until(async () => (await countStreams()) === 4);
  t.equal((await openStream(t)).status, 200);
  t.equal((await openStream(t)).status, 429);
});

t.test('The streams of a process that died do not count once their leases have expired', async (t) => {
  const lease = { userId: alice.id, sessionId: crypto.randomUUID(), leaseUntil: new Date(Date.now() + 60_000) };
  await ctx.db.insert(eventStreams).values(Array.from({ length: 5 }, () => ({ ...lease, id: crypto.randomUUID() })));
  t.equal((await openStream(t)).status, 429);
  await ctx.db.update(eventStreams).set({ leaseUntil: new Date(Date.now() - 1000) });
  const stream = await openStream(t, { path: `${QUICK}/api/events` });
  t.equal(stream.status, 200);
  await until(async () => (await countStreams()) === 1);
});

t.test('A process refuses streams beyond its number with 503', async (t) => {
  const path = `${SMALL}/api/events`;
  const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(t, { path })));
  t.same(streams.map(({ status }) => status).sort(), [200, 200, 200, 503, 503]);
  const refused = streams.find(({ status }) => status === 503);
  t.equal(refused?.headers['retry-after'], '5');
  t.equal((await openStream(t)).status, 200, 'the limit is one of each process');
});

t.test('A stream ends when its session ends, expires, or its account is deactivated or deleted', async (t) => {
  const ends: Record<string, (sessionId: string) => Promise<unknown>> = {
    'sign-out': () => app.inject({ method: 'POST', url: '/api/auth/logout', headers: alice.headers }),
    expiry: () => ctx.db.update(sessions).set({ expiresAt: ctx.now() }).where(eq(sessions.userId, alice.id)),
    deactivation: () => ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id)),
    deletion: () => ctx.db.delete(users).where(eq(users.id, alice.id)),
  };
  for (const [name, end] of Object.entries(ends)) {
    alice = await signUp(test.app);
    const other = await signUp(test.app);
    const stream = await openStream(t, { path: `${QUICK}/api/events` });
    const unaffected = await connect(url, { headers: { ...other.headers }, path: `${QUICK}/api/events` });
    await end(alice.token);
    await stream.ended;
    t.notOk(stream.isOpen(), name);
    await recordManyEvents(ctx, other.id, 1);
    await unaffected.waitFor(1);
    unaffected.close();
  }
});

t.test('A key with the scope opens a stream, which ends when the key is deleted or expires', async (t) => {
  const path = `${QUICK}/api/events`;
  for (const end of ['deleted', 'expired']) {
    const key = await createKey(app, alice, { scopes: ['events:read'] });
    const stream = await openStream(t, { path, headers: { ...key.headers } });
    await record(1);
    await stream.waitFor(1);
    const ofKey = eq(apiKeys.id, key.id);
    await (end === 'deleted'
      ? ctx.db.delete(apiKeys).where(ofKey)
      : ctx.db.update(apiKeys).set({ expiresAt: ctx.now() }).where(ofKey));
    await stream.ended;
    t.notOk(stream.isOpen(), end);
  }
  const other = await createKey(app, alice, { scopes: ['tasks:read'] });
  t.equal((await openStream(t, { headers: { ...other.headers } })).status, 403);
});

t.test('A stream whose lease was lost while its process was frozen ends', async (t) => {
  const stream = await openStream(t, { path: `${QUICK}/api/events` });
  await ctx.db.delete(eventStreams).where(eq(eventStreams.userId, alice.id));
  await stream.ended;
  t.notOk(stream.isOpen());
});

t.test('A reader of many old events gets all of them, without being cut off', async (t) => {
  const data = JSON.stringify({ n: 0, text: 'x'.repeat(20_000) });
  await ctx.db.execute(sql`
    insert into events (user_id, id, kinds, data, created_at)
    select ${alice.id}::int, n, '{test}', ${data}::text, now() from generate_series(1, 300) n`);
  await ctx.db.insert(eventPositions).values({ userId: alice.id, lastId: 300 });
  const stream = await openStream(t, { query: '?after=0' });
  await stream.waitFor(300);
  t.same(idsOf(stream), countUp(1, 300));
  await record(1);
  await stream.waitFor(301);
});

t.test('A reader that does not read is cut off, holds up no other, and can resume', async (t) => {
  const slow = await openStream(t, { isPaused: true });
  const quick = await openStream(t);
  const data = { n: 0, text: 'x'.repeat(100_000) };
  let recorded = 0;
  // What the operating system buffers comes on top.
  while ((await countStreams()) === 2 && recorded < 400) {
    await recordManyEvents(ctx, alice.id, 10, 'test', data);
    recorded += 10;
    await quick.waitFor(recorded);
  }
  t.equal(await countStreams(), 1);
  t.ok(quick.isOpen());
  let received = 0;
  slow.response.on('data', (chunk) => {
    received += chunk.length;
  });
  await slow.ended;
  t.ok(received < recorded * 100_000, 'it did not get everything');
  const resumed = await openStream(t, { query: '?after=0' });
  await resumed.waitFor(recorded);
  t.same(idsOf(resumed), countUp(1, recorded));
});

t.test('HEAD shows that there is a stream, and does not open one', async (t) => {
  const headers = { ...alice.headers, accept: 'text/event-stream' };
  const answer = await app.inject({ method: 'HEAD', url: '/api/events', headers });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'text/event-stream; charset=utf-8');
  t.equal(await countStreams(), 0);
});

t.test('A stream counts once for the rate limit', async (t) => {
  await ctx.db.delete(rateWindows);
  const stream = await openStream(t);
  await record(3);
  await stream.waitFor(3);
  const counts = await ctx.db.select({ count: rateWindows.count }).from(rateWindows);
  t.same(counts, [{ count: 1 }]);
});

t.test('A stream ends at once when its process stops, and one that is opened then ends too', async (t) => {
  const { app: stoppingApp, url: stoppingUrl } = await addRoutes(ctx);
  const stream = await openStream(t, { at: stoppingUrl });
  const closing = stoppingApp.close();
  await stream.ended;
  await closing;
  await until(async () => (await countStreams()) === 0);
  t.same(stream.frames, [{ retry: '2000', id: '0' }], 'with a proper end');
});
