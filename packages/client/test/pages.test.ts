import t from 'tap';
import { InvalidResponseError } from '../src/index.ts';
import { catchError, fail, json, startServer } from './hostile-server.ts';

const page = (ids: number[], pagination: object) =>
  json(200, { success: true, tasks: ids.map((id) => ({ id })), pagination });

async function listIds(list: AsyncIterable<{ id: unknown }>) {
  const ids: unknown[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

t.test('A list is read page by page with the cursor, and its query', async (t) => {
  const { carillon, received } = await startServer(
    t,
    page([5, 4], { nextCursor: 'a' }),
    page([], { nextCursor: 'b' }),
    fail(503),
    page([3], { nextCursor: null }),
  );
  t.same(await listIds(carillon.tasks.list({ status: 'active', limit: 2 })), [5, 4, 3]);
  const first = '/api/tasks?status=active&limit=2';
  t.same(
    received.map(({ url }) => url),
    [first, `${first}&cursor=a`, `${first}&cursor=b`, `${first}&cursor=b`],
  );
});

t.test('A list without cursors is read by offset', async (t) => {
  const hooks = (ids: string[], pagination: object) => json(200, { webhooks: ids.map((id) => ({ id })), pagination });
  const { carillon, received } = await startServer(
    t,
    hooks(['a', 'b'], { offset: 4, limit: 2, total: 7, hasMore: true }),
    hooks(['c'], { offset: 6, limit: 2, total: 7 }),
  );
  t.same(await listIds(carillon.webhooks.list({ offset: 4, limit: 2 })), ['a', 'b', 'c']);
  t.equal(received[1]?.url, '/api/webhooks?offset=6&limit=2');
});

t.test('Events are read further after a page that has none of the wanted kinds', async (t) => {
  const events = (ids: string[], pagination: object) => json(200, { events: ids.map((id) => ({ id })), pagination });
  const { carillon, received } = await startServer(
    t,
    events([], { hasMore: true, nextAfter: '20000' }),
    events(['20007'], { hasMore: false, nextAfter: '20007' }),
  );
  t.same(await listIds(carillon.events.list({ kinds: 'test' })), ['20007']);
  t.same(
    received.map(({ url }) => url),
    ['/api/events?kinds=test', '/api/events?kinds=test&after=20000'],
  );
});

t.test('One page can be read, and reading can stop', async (t) => {
  const { carillon, received } = await startServer(t, page([5, 4], { nextCursor: 'a' }));
  t.match(await carillon.tasks.list().page(), { tasks: [{ id: 5 }, { id: 4 }], pagination: { nextCursor: 'a' } });
  for await (const { id } of carillon.tasks.list()) {
    t.equal(id, 5);
    break;
  }
  t.equal(received.length, 2);
});

t.test('A page that names itself as the next one does not loop', async (t) => {
  const { carillon, received } = await startServer(t, page([1], { nextCursor: 'a' }));
  await catchError(listIds(carillon.tasks.list()), InvalidResponseError);
  t.equal(received.length, 2);
});
