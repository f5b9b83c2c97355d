import { tasks, users } from '@carillon/db';
import { eq, inArray } from 'drizzle-orm';
import t from 'tap';
import { findWrongTaskCounts } from '../../src/product/tasks/verify.ts';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { postTask, TASK } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const task = { ...TASK, recurrence: 'daily', status: 'paused', aiModel: 'offline' } as const;
const rest = { scheduledFor: ctx.now(), maxTokens: 1, temperature: 0, createdAt: ctx.now(), updatedAt: ctx.now() };
const rowOf = ({ id: userId }: Person) => ({ ...task, ...rest, userId });
const remove = ({ headers }: Person, id: number) => app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers });

/** The counts of the list and the profile; the stored count must be correct. */
async function totalOf({ headers }: Person): Promise<number> {
  t.same(await findWrongTaskCounts(ctx.db), []);
  const { pagination } = (await app.inject({ url: '/api/tasks', query: { limit: '1' }, headers })).json();
  const { user } = (await app.inject({ url: '/api/user', headers })).json();
  t.equal(user.stats.totalTasks, pagination.total);
  return pagination.total;
}

t.test('Tasks are counted as they are created, copied and deleted', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  const first = await postTask(app, alice);
  await postTask(app, alice, { status: 'paused' });
  await postTask(app, bob);
  t.equal(await totalOf(alice), 2);
  await app.inject({ method: 'POST', url: `/api/tasks/${first}/duplicate`, headers: alice.headers });
  t.equal(await totalOf(alice), 3);
  t.equal((await remove(alice, first)).statusCode, 200);
  t.equal((await remove(alice, first)).statusCode, 404);
  t.equal(await totalOf(alice), 2);
  t.equal(await totalOf(bob), 1);
});

t.test('Concurrent creations and deletions are all counted', async (t) => {
  const alice = await signUp(app);
  const old = await Promise.all(Array.from({ length: 10 }, () => postTask(app, alice, { status: 'paused' })));
  await Promise.all([
    ...old.flatMap((id) => [remove(alice, id), remove(alice, id)]),
    ...Array.from({ length: 20 }, (_, n) => postTask(app, alice, { status: n % 5 === 0 ? 'active' : 'paused' })),
  ]);
  t.equal(await totalOf(alice), 20);
});

t.test('A transaction that is rolled back is not counted', async (t) => {
  const alice = await signUp(app);
  const stored = await postTask(app, alice);
  const undone = ctx.db.transaction(async (tx) => {
    await tx.insert(tasks).values([rowOf(alice), rowOf(alice)]);
    await tx.delete(tasks).where(eq(tasks.id, stored));
    throw new Error('Enough.');
  });
  await t.rejects(undone, { message: 'Enough.' });
  t.equal(await totalOf(alice), 1);
});

t.test(
  'A statement can concern many tasks of several users, or none, and users can be deleted with theirs',
  async (t) => {
    const [alice, bob, carol] = [await signUp(app), await signUp(app), await signUp(app)];
    await ctx.db.insert(tasks).values([alice, bob, alice, carol, alice].map(rowOf));
    t.same([await totalOf(alice), await totalOf(bob), await totalOf(carol)], [3, 1, 1]);
    await ctx.db.delete(tasks).where(inArray(tasks.userId, [bob.id, carol.id]));
    await ctx.db.delete(tasks).where(eq(tasks.userId, bob.id));
    await ctx.db.delete(users).where(eq(users.id, carol.id));
    t.same([await totalOf(alice), await totalOf(bob)], [3, 0]);
  },
);

t.test('A wrong count is found, with the expected one', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  await postTask(app, alice);
  await ctx.db
    .update(users)
    .set({ taskCount: 7 })
    .where(inArray(users.id, [alice.id, bob.id]));
  t.same(await findWrongTaskCounts(ctx.db), [
    { userId: alice.id, counted: 7, expected: 1 },
    { userId: bob.id, counted: 7, expected: 0 },
  ]);
});
