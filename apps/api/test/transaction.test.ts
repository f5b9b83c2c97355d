import { tasks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../src/context.ts';
import { atCommit, inTransaction } from '../src/transaction.ts';
import { testContext } from './support/context.ts';
import { insertTask, insertUsers } from './support/task-rows.ts';

const { ctx } = await testContext(t);
const [userId = 0] = await insertUsers(ctx, 1);

/** Renames a task, and ends the transaction with `write`. */
const rename = (id: number, write: (tx: Context) => Promise<void>) =>
  inTransaction(ctx, async (tx) => {
    await tx.db.update(tasks).set({ name: 'Renamed' }).where(eq(tasks.id, id));
    atCommit(tx, write, ['item']);
  });

const readName = async (id: number) => {
  const [row] = await ctx.db.select({ name: tasks.name }).from(tasks).where(eq(tasks.id, id));
  return row?.name;
};

t.test('A last write that throws before its statement undoes the transaction', async (t) => {
  const id = await insertTask(ctx, userId, { name: 'Before' });
  await t.rejects(
    rename(id, async () => {
      throw new Error('Not serializable');
    }),
    /Not serializable/,
  );
  t.equal(await readName(id), 'Before');
});

t.test('A last write that the database refuses undoes the transaction', async (t) => {
  const id = await insertTask(ctx, userId, { name: 'Before' });
  await t.rejects(
    rename(id, async (tx) => {
      await tx.db.execute(sql`select 1 / 0`);
    }),
    /division by zero|Failed query/,
  );
  t.equal(await readName(id), 'Before');
});

t.test('A last write is committed with the rest', async (t) => {
  const id = await insertTask(ctx, userId, { name: 'Before' });
  await rename(id, async (tx) => {
    await tx.db.update(tasks).set({ description: 'Written last' }).where(eq(tasks.id, id));
  });
  t.equal(await readName(id), 'Renamed');
});
