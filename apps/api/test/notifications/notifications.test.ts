import { sql } from 'drizzle-orm';
import t from 'tap';
import { markAllRead, notifyUsers } from '../../src/product/notifications/write.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { INVALID_IDS } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t);
t.beforeEach(() => clock.set(START));

const list = ({ headers }: Person, query: Record<string, string> = {}) =>
  app.inject({ url: '/api/notifications', query, headers });
const shown = async (person: Person, query: Record<string, string> = {}) =>
  (await list(person, query)).json().notifications;
const titles = async (person: Person, query: Record<string, string> = {}) =>
  (await shown(person, query)).map(({ title }: { title: string }) => title);
const read = ({ headers }: Person, id: unknown) =>
  app.inject({ method: 'POST', url: `/api/notifications/${id}/read`, headers });

async function notify({ id: userId }: Person, ...texts: string[]) {
  const rest = { kind: 'task.failed', path: '/tasks/7' };
  for (const title of texts) await notifyUsers(ctx, [{ userId, title, message: `${title}!`, ...rest }]);
}

t.test('Notifications are listed newest first, with text and time', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await notify(alice, 'First');
  clock.advance(1000);
  await notify(bob, 'Another');
  await notify(alice, 'Second');
  const answer = await list(alice);
  t.equal(answer.statusCode, 200);
  const { success, notifications, pagination } = answer.json();
  t.equal(success, true);
  t.same(pagination, { total: 2, limit: 20, offset: 0, hasMore: false, nextCursor: null });
  const rest = { kind: 'task.failed', readAt: null };
  const [{ id: second }, { id: first }] = notifications;
  t.same(notifications, [
    { id: second, title: 'Second', message: 'Second!', createdAt: '2026-11-20T10:00:01.000Z', ...rest },
    { id: first, title: 'First', message: 'First!', createdAt: '2026-11-20T10:00:00.000Z', ...rest },
  ]);
});

t.test('A notification keeps the time at which it was first read', async (t) => {
  const alice = await signUp(app);
  await notify(alice, 'One');
  const [{ id }] = await shown(alice);
  clock.advance(5000);
  const answer = await read(alice, id);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true });
  clock.advance(5000);
  t.same((await read(alice, id)).json(), { success: true });
  t.match(await shown(alice), [{ id, readAt: '2026-11-20T10:00:05.000Z' }]);
});

t.test('The list can be limited to unread or read notifications', async (t) => {
  const alice = await signUp(app);
  await notify(alice, 'A', 'B', 'C');
  const [, { id }] = await shown(alice);
  await read(alice, id);
  t.same(await titles(alice, { unread: 'true' }), ['C', 'A']);
  t.same(await titles(alice, { unread: 'false' }), ['B']);
  t.equal((await list(alice, { unread: 'true' })).json().pagination.total, 2);
  t.equal((await list(alice, { unread: 'maybe' })).statusCode, 400);
});

t.test('Pages by offset and by cursor show each notification once', async (t) => {
  const alice = await signUp(app);
  await notify(alice, '1', '2', '3', '4', '5');
  t.same(await titles(alice, { limit: '2', offset: '2' }), ['3', '2']);
  const seen: string[] = [];
  let query: Record<string, string> = { limit: '2' };
  while (seen.length < 5) {
    seen.push(...(await titles(alice, query)));
    query = { limit: '2', cursor: (await list(alice, query)).json().pagination.nextCursor };
  }
  t.equal(query.cursor, null);
  t.same(seen, ['5', '4', '3', '2', '1']);
  for (const [name, value] of [
    ['limit', '0'],
    ['offset', '-1'],
    ['cursor', 'made-up'],
  ] as const)
    t.equal((await list(alice, { [name]: value })).statusCode, 400, `${name} ${value}`);
});

t.test("A stranger's notification and an impossible id are not found", async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await notify(alice, 'Mine');
  const [{ id }] = await shown(alice);
  for (const wrong of [id, ...INVALID_IDS]) t.equal((await read(bob, wrong)).statusCode, 404, String(wrong));
  t.match(await shown(alice), [{ readAt: null }]);
});

t.test('Notifications need a session', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/notifications' });
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/notifications/1/read' });
});

t.test('Marking all as read marks 10,000 at a time, the newest first, and no other user is touched', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await notify(bob, 'For Bob');
  await ctx.db.execute(sql`
    insert into notifications (user_id, kind, title, message, created_at)
    select ${alice.id}, 'task.failed', 'Number ' || n, '', now() from generate_series(1, 10002) n`);
  const [newest] = await shown(alice);
  t.same(await markAllRead(ctx, alice as never, newest.id - 1), { count: 10_000, isComplete: false });
  t.same(await titles(alice, { unread: 'true' }), ['Number 10002', 'Number 1']);
  t.same(await markAllRead(ctx, alice as never, newest.id), { count: 2, isComplete: true });
  t.same(await titles(bob, { unread: 'true' }), ['For Bob']);
});
