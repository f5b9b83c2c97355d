import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { orphanedObjects, uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { deleteOrphanedObjects } from '../../src/product/uploads/orphaned-objects.ts';
import { inTransaction } from '../../src/transaction.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const ada = await signUpAda(app);
const stored = () => readdirSync(join(ctx.config.dataDir, 'files')).toSorted();
const remove = ({ id }: Person) =>
  app.inject({ method: 'DELETE', url: `/api/admin/users/${id}`, headers: ada.headers });

const ABOUT = { name: 'a.txt', type: 'text/plain' };
const store = (key: string) => ctx.files.store(key, Readable.from(['x']), ABOUT);
const rowOf = ({ id: userId }: Person, storageKey: string | null, url: string) => {
  const storage = storageKey === null ? ('base64' as const) : ('blob' as const);
  return { id: randomUUID(), userId, ...ABOUT, size: 1, storage, storageKey, url, uploadedAt: START };
};

t.test('The files of a deleted account are removed from the storage, and those of others stay', async (t) => {
  const [alice, bob] = [await signUpAlice(app), await signUpBob(app)];
  for (const [person, key] of [
    [alice, 'alice-1'],
    [alice, 'alice-2'],
    [bob, 'bob-1'],
  ] as const) {
    await ctx.db.insert(uploads).values(rowOf(person, key, await store(key)));
  }
  await ctx.db.insert(uploads).values(rowOf(alice, null, 'data:text/plain;base64,eA=='));
  await store('alice-halfway');
  const later = new Date(START.getTime() + 60_000);
  await ctx.db.insert(orphanedObjects).values({ key: 'alice-halfway', userId: alice.id, deleteAfter: later });

  t.equal((await remove(alice)).statusCode, 200);
  const loose = await ctx.db.select().from(orphanedObjects).orderBy(orphanedObjects.key);
  t.same(loose, [
    { key: 'alice-1', userId: null, deleteAfter: START },
    { key: 'alice-2', userId: null, deleteAfter: START },
    { key: 'alice-halfway', userId: null, deleteAfter: later },
  ]);
  t.equal(await deleteOrphanedObjects(ctx), 2);
  t.same(stored(), ['alice-halfway', 'bob-1'], 'the unfinished upload is removed after its lease');
  t.equal(await ctx.db.$count(uploads, eq(uploads.userId, bob.id)), 1);
  await remove(bob);
});

t.test('An account whose deletion fails keeps its files', async (t) => {
  await ctx.db.delete(orphanedObjects);
  await ctx.db.insert(uploads).values(rowOf(ada, 'ada-1', await store('ada-1')));
  t.equal((await remove(ada)).statusCode, 409, 'the last admin');
  t.equal(await ctx.db.$count(orphanedObjects), 0);
});

t.test('An upload that ends during the deletion of its account leaves no unknown file', async (t) => {
  for (let turn = 0; turn < 10; turn++) {
    const alice = await signUpAlice(app);
    const key = `raced-${turn}`;
    const url = await store(key);
    await ctx.db.insert(orphanedObjects).values({ key, userId: alice.id, deleteAfter: START });
    const finish = inTransaction(ctx, async ({ db }) => {
      await db.delete(orphanedObjects).where(eq(orphanedObjects.key, key));
      await db.insert(uploads).values(rowOf(alice, key, url));
    });
    const [answer] = await Promise.all([remove(alice), finish.catch(() => {})]);
    t.equal(answer.statusCode, 200);
    await deleteOrphanedObjects(ctx);
    t.notOk(stored().includes(key));
  }
  t.equal(await ctx.db.$count(orphanedObjects), 0);
});
