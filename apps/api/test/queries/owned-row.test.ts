import { tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { Caller } from '../../src/context.ts';
import { findOwnedRow } from '../../src/platform/queries/owned-row.ts';
import { taskRow } from '../../src/product/tasks/read.ts';
import { testContext } from '../support/context.ts';
import { findCallerByToken, type Person, signUp } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];

const ask = ({ headers }: Pick<Person, 'headers'>, url: string) => app.inject({ url, headers });

async function callerOf({ token }: Person): Promise<Caller> {
  const caller = await findCallerByToken(ctx, token);
  if (!caller) throw new Error('The token has no session.');
  return caller;
}

t.test('The next request sees a change and a deletion', async (t) => {
  const id = await postTask(app, alice);
  await ask(alice, `/api/tasks/${id}`);
  await ctx.db.update(tasks).set({ name: 'Another name' }).where(eq(tasks.id, id));
  t.match((await ask(alice, `/api/tasks/${id}`)).json(), { task: { name: 'Another name' } });
  await ctx.db.delete(tasks).where(eq(tasks.id, id));
  t.equal((await ask(alice, `/api/tasks/${id}`)).statusCode, 404);
});

t.test('A request without a session gets no row', async (t) => {
  const id = await postTask(app, alice);
  for (const headers of [{}, { authorization: 'Bearer x' }])
    t.equal((await app.inject({ url: `/api/tasks/${id}`, headers })).statusCode, 401);
});

t.test('A service finds the row of its owner only, by its id and kind', async (t) => {
  const id = await postTask(app, alice);
  t.match(await findOwnedRow(ctx, await callerOf(alice), taskRow, id), { id, userId: alice.id });
  t.equal(await findOwnedRow(ctx, await callerOf(bob), taskRow, id), null);
});
