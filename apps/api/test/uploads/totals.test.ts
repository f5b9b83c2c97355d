import { uploadTotals } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { findWrongTotals } from '../../src/product/uploads/totals.ts';
import { testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { deleteAll, setStorageUsed, upload } from '../support/uploads.ts';

const { app, ctx } = await testContext(t);
t.afterEach(() => deleteAll(ctx));

t.test('A wrong or missing total is found, with the correct one', async (t) => {
  const [alice, bob, carol] = [await signUp(app), await signUp(app), await signUp(app)];
  for (const person of [alice, bob]) {
    for (const content of ['hello', 'world!']) await upload(app, person, { content });
  }
  t.same(await findWrongTotals(ctx.db), []);
  await setStorageUsed(ctx, alice, 12);
  await ctx.db.delete(uploadTotals).where(eq(uploadTotals.userId, bob.id));
  await setStorageUsed(ctx, carol, 3);
  t.same(await findWrongTotals(ctx.db), [
    { userId: alice.id, counted: { bytes: 12, files: 2 }, due: { bytes: 11, files: 2 } },
    { userId: bob.id, counted: { bytes: 0, files: 0 }, due: { bytes: 11, files: 2 } },
    { userId: carol.id, counted: { bytes: 3, files: 0 }, due: { bytes: 0, files: 0 } },
  ]);
});

t.test('A missing total of nothing is correct', async (t) => {
  await setStorageUsed(ctx, await signUp(app), 0);
  t.same(await findWrongTotals(ctx.db), []);
});
