import { sessions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { countStatements } from '../support/database.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { insertTasks } from '../support/task-rows.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
await insertTasks(ctx, Array(45).fill(alice.id));
const headers = { authorization: `Bearer ${alice.token}` };
const list = (query: string, given: Record<string, string> = headers) =>
  app.inject({ url: `/api/tasks${query}`, headers: given });

t.test('Pages by cursor are complete, in order, and take two statements each', async (t) => {
  const ids: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const statements = countStatements(ctx.db);
    const response = await list(`?limit=20${cursor && `&cursor=${cursor}`}`);
    t.equal(statements(), 2);
    const { tasks, pagination } = response.json();
    ids.push(...tasks.map(({ id }: { id: number }) => id));
    cursor = pagination.nextCursor;
  }
  t.equal(new Set(ids).size, 45);
  t.strictSame(
    ids,
    ids.toSorted((a, b) => b - a),
  );
});

t.test('A query that is not read ahead is answered as before', async (t) => {
  const all = (await list('?limit=100')).json().tasks;
  t.equal(all.length, 45);
  t.strictSame((await list('?limit=5&offset=3')).json().tasks, all.slice(3, 8));
  t.strictSame((await list('?limit=5&status=paused')).json().tasks, []);
  t.strictSame((await list('?limit=100&unknown=1')).json().tasks, all);
  for (const query of ['?limit=0', '?limit=101', '?limit=05x', '?cursor=none', '?limit=1&limit=2&cursor=MQ']) {
    t.equal((await list(query)).statusCode, 400, query);
  }
});

t.test('A token whose session has ended reads no page, and no token reads the page of another user', async (t) => {
  t.strictSame((await list('', { authorization: `Bearer ${bob.token}` })).json().tasks, []);
  await ctx.db.delete(sessions).where(eq(sessions.userId, alice.id));
  const response = await list('');
  t.equal(response.statusCode, 401);
  t.notMatch(response.body, 'Say something');
});
