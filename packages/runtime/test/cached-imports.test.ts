import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

/**
 * Runs `program` in its own process, because the processes of tests start with another hook, and in the package of the
 * database, whose imports are the reason for the hook.
 */
function run(program: string): string {
  const cwd = join(import.meta.dirname, '../../db');
  const args = [
    '--input-type=module',
    '--eval',
    `import { withCachedImports } from '../runtime/src/cached-imports.ts'; ${program}`,
  ];
  return execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
}

/** Prints the files that `work` loads. */
const listFiles = (work: string) => `
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => (files.push(url + ' ' + context.format), next(url, context)) });
  const load = () => import('./src/test-database.ts');
  await ${work};
  console.log(files.sort().join());
`;

t.test('Imports with the hook load the same files as without', async (t) => {
  const files = run(listFiles('load()'));
  t.match(files, /drizzle-orm.*postgres.*test-database\.ts module-typescript/);
  t.equal(run(listFiles('withCachedImports(load)')), files);
});

t.test('What was imported before and is imported later is the same module', async (t) => {
  const program = `
    import * as drizzle from 'drizzle-orm';
    const [again, loaded] = await withCachedImports(() =>
      Promise.all([import('drizzle-orm'), import('drizzle-orm/mysql-core')]),
    );
    // A module that the other modules import.
    const { mysqlTable } = await import('drizzle-orm/mysql-core/table');
    console.log(again === drizzle, mysqlTable !== undefined && loaded.mysqlTable === mysqlTable);
  `;
  t.equal(run(program), 'true true\n');
});

t.test('An import that fails rejects, and other packages are resolved as usual', async (t) => {
  const program = `
    const { code } = await withCachedImports(() => import('drizzle-orm/no-such')).catch((error) => error);
    console.log(code, (await withCachedImports(() => import('postgres'))) !== undefined);
  `;
  t.equal(run(program), 'ERR_PACKAGE_PATH_NOT_EXPORTED true\n');
});
