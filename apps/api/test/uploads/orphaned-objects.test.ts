import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { orphanedObjects, queryRows } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import type { FileStorage } from '../../src/lib/storage/client.ts';
import { deleteOrphanedObjects } from '../../src/product/uploads/orphaned-objects.ts';
import { START, testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const alice = await signUpAlice(app);
const MINUTE_MS = 60_000;
const at = (ms: number) => new Date(START.getTime() + ms);
const isThere = (key: string) => existsSync(join(ctx.config.dataDir, 'files', key));
const keys = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(orphanedObjects);
});

async function leave(names: string[], deleteAfter = START, userId: number | null = null) {
  for (const key of names) await ctx.files.store(key, Readable.from(['x']), { name: key, type: 'text/plain' });
  await ctx.db.insert(orphanedObjects).values(names.map((key) => ({ key, userId, deleteAfter })));
}

/** A context whose storage deletes with `remove`. */
const removing = (remove: FileStorage['remove']): Context => ({ ...ctx, files: { ...ctx.files, remove } });

t.test('All due objects are deleted, and nothing else', async (t) => {
  await leave(keys('due', 45));
  await leave(['later'], at(1));
  t.equal(await deleteOrphanedObjects(ctx), 45);
  t.same(
    (await ctx.db.select().from(orphanedObjects)).map(({ key }) => key),
    ['later'],
  );
  t.ok(isThere('later'));
  for (const key of keys('due', 45)) t.notOk(isThere(key), key);
  t.equal(await deleteOrphanedObjects(ctx), 0);
});

t.test("A killed upload's object is deleted and its slot freed", async (t) => {
  await leave(['killed'], at(5 * MINUTE_MS), alice.id);
  t.equal(await deleteOrphanedObjects(ctx), 0);
  clock.advance(5 * MINUTE_MS);
  t.equal(await deleteOrphanedObjects(ctx), 1);
  t.notOk(isThere('killed'));
  t.equal(await ctx.db.$count(orphanedObjects), 0);
});

t.test('An object that is missing in the storage counts as deleted', async (t) => {
  await ctx.db.insert(orphanedObjects).values({ key: 'nothing', deleteAfter: START });
  t.equal(await deleteOrphanedObjects(ctx), 1);
  t.equal(await ctx.db.$count(orphanedObjects), 0);
});

t.test('Concurrent processes delete each object once', async (t) => {
  await leave(keys('raced', 50));
  const asked: string[] = [];
  const racing = removing(async (key) => {
    asked.push(key);
    await ctx.files.remove(key);
  });
  const counts = await Promise.all([racing, racing, racing].map((one) => deleteOrphanedObjects(one)));
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    50,
  );
  t.same(asked.toSorted(), keys('raced', 50).toSorted());
  t.equal(await ctx.db.$count(orphanedObjects), 0);
});

t.test('A process skips objects that another one is deleting', async (t) => {
  await leave(['slow'], START, alice.id);
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const first = deleteOrphanedObjects(
    removing(async () => {
      begun.resolve();
      await finish.promise;
    }),
  );
  await begun.promise;
  t.equal(await deleteOrphanedObjects(removing(async (key) => void t.fail(`it asked for ${key} too`))), 0);
  const [claimed] = await ctx.db.select().from(orphanedObjects);
  t.equal(claimed?.userId, null, 'it no longer counts for the user');
  await ctx.db.update(orphanedObjects).set({ deleteAfter: at(1) });
  finish.resolve();
  t.equal(await first, 1);
  t.equal(await ctx.db.$count(orphanedObjects), 1, 'a later claim is left alone');
});

t.test('No transaction is open while the storage works', async (t) => {
  await leave(['held']);
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const remove = async () => {
    begun.resolve();
    await finish.promise;
  };
  const sweep = deleteOrphanedObjects(removing(remove));
  await begun.promise;
  const [open] = await queryRows<{ count: number }>(
    ctx.db,
    sql`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and xact_start is not null
        and pid <> pg_backend_pid()`,
  );
  t.equal(open?.count, 0);
  finish.resolve();
  t.equal(await sweep, 1);
});

t.test('A failed deletion is logged and retried ten minutes later', async (t) => {
  await leave(['stubborn', 'willing']);
  const failing = removing(async (key) => {
    if (key === 'stubborn') throw new Error('the storage is full of sand');
    await ctx.files.remove(key);
  });
  t.equal(await deleteOrphanedObjects(failing), 1);
  const warnings = () => logged.filter(({ level }) => level === 40);
  t.match(warnings(), [{ key: 'stubborn', err: { message: 'the storage is full of sand' } }]);
  t.equal(warnings().length, 1);
  t.same(await ctx.db.select().from(orphanedObjects), [
    { key: 'stubborn', userId: null, deleteAfter: at(10 * MINUTE_MS) },
  ]);
  clock.advance(10 * MINUTE_MS - 1);
  t.equal(await deleteOrphanedObjects(failing), 0);
  t.equal(warnings().length, 1, 'and not before');
  clock.advance(1);
  t.equal(await deleteOrphanedObjects(ctx), 1);
  t.notOk(isThere('stubborn'));
});

t.test('An unavailable storage is not asked for every due object', async (t) => {
  await leave(keys('many', 45));
  let asked = 0;
  const away = removing(async () => {
    asked += 1;
    throw new Error('away');
  });
  t.equal(await deleteOrphanedObjects(away), 0);
  t.equal(asked, 20);
  t.equal(await deleteOrphanedObjects(ctx), 25, 'the others are tried the next time');
  clock.advance(10 * MINUTE_MS);
  t.equal(await deleteOrphanedObjects(ctx), 20);
});

t.test('A process that stops waits for the storage for a bounded time', async (t) => {
  await leave(keys('stopping', 25));
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const hanging = removing(async (key) => {
    if (key !== 'stopping-0') return ctx.files.remove(key);
    begun.resolve();
    await new Promise(() => {});
  });
  const worker = { ...ctx.worker, stopping: stop.signal };
  const sweep = deleteOrphanedObjects({ ...hanging, worker }, { graceMs: 1000 });
  await begun.promise;
  stop.abort();
  t.equal(await sweep, 19);
  t.equal(await ctx.db.$count(orphanedObjects, eq(orphanedObjects.deleteAfter, START)), 5, 'and claims nothing more');
  t.equal(await deleteOrphanedObjects({ ...ctx, worker }), 0);
});
