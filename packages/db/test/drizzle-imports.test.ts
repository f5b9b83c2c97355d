import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';
import * as drizzle from 'drizzle-orm';
import t from 'tap';

t.test('Imports with the hook resolve to the same modules as without', async (t) => {
  const [again, loaded] = await withCachedDrizzleImports(() =>
    Promise.all([import('drizzle-orm'), import('drizzle-orm/mysql-core')]),
  );
  t.equal(again, drizzle);
  const { mysqlTable } = await import('drizzle-orm/mysql-core/table');
  t.equal(loaded.mysqlTable, mysqlTable, 'a module imported by other modules');
});

t.test('An import that fails rejects, and other packages are resolved as usual', async (t) => {
  await t.rejects(
    withCachedDrizzleImports(() => import('drizzle-orm/no-such' as string)),
    { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' },
  );
  t.ok(await withCachedDrizzleImports(() => import('postgres')));
});
