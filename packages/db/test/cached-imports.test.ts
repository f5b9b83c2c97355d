import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';
import t from 'tap';

// In a process of its own, because the processes of tests start with the hook.
const COMPARISON = `
  import * as drizzle from 'drizzle-orm';
  import { withCachedDrizzleImports } from './src/drizzle-imports.ts';
  const [again, loaded] = await withCachedDrizzleImports(() =>
    Promise.all([import('drizzle-orm'), import('drizzle-orm/mysql-core')]),
  );
  // A module that the other modules import.
  const { mysqlTable } = await import('drizzle-orm/mysql-core/table');
  console.log(again === drizzle, mysqlTable !== undefined && loaded.mysqlTable === mysqlTable);
`;

t.test('Imports with the hook resolve to the same modules as without', async (t) => {
  const cwd = join(import.meta.dirname, '..');
  const args = ['--input-type=module', '--eval', COMPARISON];
  t.equal(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }), 'true true\n');
});

t.test('An import that fails rejects, and other packages are resolved as usual', async (t) => {
  await t.rejects(
    withCachedDrizzleImports(() => import('drizzle-orm/no-such' as string)),
    { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' },
  );
  t.ok(await withCachedDrizzleImports(() => import('postgres')));
});
