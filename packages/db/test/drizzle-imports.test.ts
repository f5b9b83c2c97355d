import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';
import * as drizzle from 'drizzle-orm';
import t from 'tap';

t.test('what is imported is what Node itself finds', async (t) => {
  const [again, loaded] = await withCachedDrizzleImports(() =>
    Promise.all([import('drizzle-orm'), import('drizzle-orm/mysql-core')]),
  );
  t.equal(again, drizzle);
  const { mysqlTable } = await import('drizzle-orm/mysql-core/table');
  t.equal(loaded.mysqlTable, mysqlTable, 'a module that others were imported by');
});

t.test('what cannot be loaded is told, and other packages are found as ever', async (t) => {
  await t.rejects(
    withCachedDrizzleImports(() => import('drizzle-orm/no-such' as string)),
    { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' },
  );
  t.ok(await withCachedDrizzleImports(() => import('postgres')));
});
