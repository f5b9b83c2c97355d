import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsAdmin } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp, signUpAda, signUpAlice } from '../support/people.ts';
import { insertQueuedRuns, insertTasks } from '../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t);
let ada: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  ada = await signUpAda(app);
});

const url = '/api/admin/users';
const list = (query: Record<string, string> = {}) => app.inject({ url, query, headers: ada.headers });
const names = async (query: Record<string, string>) =>
  (await list(query)).json().data.users.map(({ name }: { name: string }) => name);

t.test('The list has every account, newest first, with its counts and no other fields', async (t) => {
  clock.advance(1000);
  const alice = await signUpAlice(app);
  await insertQueuedRuns(ctx, await insertTasks(ctx, [alice.id, alice.id]));
  await insertQueuedRuns(ctx, await insertTasks(ctx, [alice.id]));
  const answer = await list();
  t.equal(answer.statusCode, 200);
  const { users: found, pagination } = answer.json().data;
  t.equal(answer.json().success, true);
  t.same(pagination, { total: 2, limit: 50, offset: 0, pages: 1 });
  t.match(found[0].identityUserId, /^local:/);
  t.same(found, [
    {
      id: alice.id,
      identityUserId: found[0].identityUserId,
      email: 'alice@example.com',
      name: 'Alice',
      role: 'USER',
      isActive: true,
      trialEndsAt: '2026-12-04T10:00:01.000Z',
      createdAt: '2026-11-20T10:00:01.000Z',
      stats: { totalTasks: 3, totalExecutions: 3 },
    },
    {
      id: ada.id,
      identityUserId: found[1].identityUserId,
      email: 'ada@example.com',
      name: 'Ada',
      role: 'ADMIN',
      isActive: true,
      trialEndsAt: '2026-12-04T10:00:00.000Z',
      createdAt: '2026-11-20T10:00:00.000Z',
      stats: { totalTasks: 0, totalExecutions: 0 },
    },
  ]);
});

t.test('Pages follow each other without a gap, and have the total', async (t) => {
  for (let n = 1; n <= 4; n++) await signUp(app, { name: `Bob ${n}`, email: `bob-${n}@example.com` });
  const first = (await list({ limit: '2' })).json().data;
  t.same(first.pagination, { total: 5, limit: 2, offset: 0, pages: 3 });
  t.same(await names({ limit: '2' }), ['Bob 4', 'Bob 3']);
  t.same(await names({ limit: '2', offset: '2' }), ['Bob 2', 'Bob 1']);
  t.same(await names({ limit: '2', offset: '4' }), ['Ada']);
  const beyond = (await list({ limit: '2', offset: '6' })).json().data;
  t.same(beyond, { users: [], pagination: { total: 5, limit: 2, offset: 6, pages: 3 } });
});

t.test('`search` matches a part of the e-mail address or the name in any letter case', async (t) => {
  await signUp(app, { name: 'Alice Liddell', email: 'al@example.com' });
  await signUp(app, { name: 'Bob', email: 'bob@Wonderland.example' });
  t.same(await names({ search: 'LIDD' }), ['Alice Liddell']);
  t.same(await names({ search: 'wonderLAND' }), ['Bob']);
  t.same(await names({ search: ' EXAMPLE.com ' }), ['Alice Liddell', 'Ada']);
  t.same(await names({ search: '' }), ['Bob', 'Alice Liddell', 'Ada']);
  const { pagination } = (await list({ search: 'nobody' })).json().data;
  t.same(pagination, { total: 0, limit: 50, offset: 0, pages: 0 });
});

t.test('Wildcards in a search are literal', async (t) => {
  await signUp(app, { name: '100% Alice', email: 'a_b@example.com' });
  await signUp(app, { name: 'Back\\slash', email: 'axb@example.com' });
  t.same(await names({ search: '%' }), ['100% Alice']);
  t.same(await names({ search: '_' }), ['100% Alice']);
  t.same(await names({ search: 'a_b' }), ['100% Alice']);
  t.same(await names({ search: '\\' }), ['Back\\slash']);
  t.same(await names({ search: "' or true --" }), []);
});

t.test('Role and activity filter the list, also together with a search', async (t) => {
  await signUpAlice(app);
  const bob = await signUp(app, { name: 'Bob' });
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));
  t.same(await names({ role: 'ADMIN' }), ['Ada']);
  t.same(await names({ role: 'USER' }), ['Bob', 'Alice']);
  t.same(await names({ isActive: 'false' }), ['Bob']);
  t.same(await names({ isActive: 'true' }), ['Alice', 'Ada']);
  t.same(await names({ isActive: 'true', role: 'USER', search: 'example' }), ['Alice']);
});

t.test('An invalid page, role or boolean is rejected by name', async (t) => {
  for (const [field, value] of [
    ['limit', '0'],
    ['limit', '1e1'],
    ['offset', '-1'],
    ['role', 'user'],
    ['isActive', '1'],
    ['search', 'x'.repeat(255)],
  ] as const) {
    const answer = await list({ [field]: value });
    t.equal(answer.statusCode, 400, `${field}=${value}`);
    t.match(answer.json(), { success: false, error: 'Validation error', details: { [field]: [String] } });
  }
});

t.test('Listing accounts needs an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { url }, { ada, alice: await signUpAlice(app) });
});
