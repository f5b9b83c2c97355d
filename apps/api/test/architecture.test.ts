import { basename, dirname } from 'node:path';
import t from 'tap';
import { findCycles, findImports, leadsToFile, readSources, type SourceFile } from '../../../scripts/imports.ts';

const files = readSources();
const API = 'apps/api/src/';

/** `file → import` of each import of `those` that `allowed` does not let pass. */
function strays(those: (path: string) => boolean, allowed: (to: string, file: SourceFile, names: string) => boolean) {
  const chosen = files.filter(({ path }) => those(path));
  if (chosen.length === 0) throw new Error('The rule is about no file.');
  return chosen.flatMap((file) =>
    file.imports.filter(({ to, names }) => !allowed(to, file, names)).map(({ to }) => `${file.path} → ${to}`),
  );
}

/** Files in which `pattern` stands outside of comments. */
const found = (pattern: RegExp, those = (path: string) => path.startsWith(API)) =>
  files.filter(({ path, code }) => those(path) && pattern.test(code)).map(({ path }) => path);

const FASTIFY = /^@?fastify(\/|-|$)/;
const isOfWorkspace = (to: string) => to.startsWith('apps/') || to.startsWith('packages/');
const isRoutes = (path: string) => /[/-]routes\.ts$/.test(path);
const isAction = (path: string) => path.startsWith(`${API}actions/`);
const HTTP_FILES = ['http/', 'openapi/', 'auth/guard.ts'].map((path) => API + path);
const isDoor = (path: string) =>
  isRoutes(path) || isAction(path) || HTTP_FILES.some((prefix) => path.startsWith(prefix));
/** What puts the rooms together may know them all. */
const BUILDERS = ['app.ts', 'auth/tokens.ts', 'open-context.ts', 'serve.ts', 'main.ts'].map((name) => API + name);
const isVerb = (path: string) => path.startsWith(API) && !isDoor(path) && !BUILDERS.includes(path);

t.test('imports are read as they are written', async (t) => {
  const text = [
    "import { a } from './a.ts';",
    "import type { B } from '../b.ts';",
    "import c, {\n  type D,\n} from '@carillon/db';",
    "export * from '@carillon/contract/tasks';",
    "import 'fastify';",
    "const e = await import('./e.ts');",
    "export const word = (): 'from' => 'from';",
  ].join('\n');
  t.same(findImports(`${API}tasks/x.ts`, text), [
    { to: `${API}tasks/a.ts`, typeOnly: false, names: '{ a }' },
    { to: `${API}b.ts`, typeOnly: true, names: '{ B }' },
    { to: 'packages/db/src/index.ts', typeOnly: false, names: 'c, {\n  type D,\n}' },
    { to: 'packages/contract/src/tasks.ts', typeOnly: false, names: '*' },
    { to: 'fastify', typeOnly: false, names: '' },
    { to: `${API}tasks/e.ts`, typeOnly: false, names: '' },
  ]);
  t.same(
    findCycles(
      new Map([
        ['a', ['b']],
        ['b', ['a']],
      ]),
    ),
    [['a', 'b', 'a']],
  );
  const imports = files.flatMap((file) => file.imports);
  t.ok(imports.length > 300, 'all that there is was read');
  t.same(
    imports.filter((one) => !leadsToFile(one)),
    [],
  );
});

t.test('contract and db know nobody above them, nor each other', async (t) => {
  for (const folder of ['packages/contract/', 'packages/db/']) {
    t.same(
      strays(
        (path) => path.startsWith(folder),
        (to) => !isOfWorkspace(to) || to.startsWith(folder),
      ),
      [],
    );
  }
});

t.test('the scheduler is a client: it knows neither the API nor the database', async (t) => {
  const folder = 'apps/scheduler/';
  t.same(
    strays(
      (path) => path.startsWith(folder),
      (to) => !isOfWorkspace(to) || to.startsWith(folder) || to.startsWith('packages/contract/'),
    ),
    [],
  );
});

t.test('schedule/ is pure: it knows the contract and its libraries', async (t) => {
  const folder = `${API}schedule/`;
  const libraries = ['croner', 'lru-cache', 'temporal-polyfill'];
  t.same(
    strays(
      (path) => path.startsWith(folder),
      (to) => to.startsWith(folder) || to.startsWith('packages/contract/') || libraries.includes(to),
    ),
    [],
  );
});

t.test('verbs know no HTTP and no door', async (t) => {
  t.same(
    strays(isVerb, (to) => !FASTIFY.test(to) && !isDoor(to) && !BUILDERS.includes(to)),
    [],
  );
});

t.test('fastify is known to the HTTP door and to what builds the application', async (t) => {
  t.same(
    strays(
      // What the service is measured beside is made of anything.
      (path) =>
        (!isDoor(path) || isAction(path)) &&
        ![`${API}app.ts`, `${API}auth/tokens.ts`].includes(path) &&
        !path.startsWith('apps/bench/'),
      (to) => !FASTIFY.test(to),
    ),
    [],
  );
});

t.test('doors write no SQL and make no rows', async (t) => {
  t.same(
    strays(
      (path) => isRoutes(path) || isAction(path),
      (to) => !to.startsWith('drizzle-orm') && !to.startsWith('packages/db/'),
    ),
    [],
  );
});

t.test('the clock is read in one place, and the environment in another', async (t) => {
  t.same(found(/new Date\(\)|Date\.now\(\)|\bDate\(\)|Temporal\.Now/), [`${API}context.ts`]);
  t.same(
    found(/process\.env/).filter((path) => ![`${API}config/config.ts`, `${API}main.ts`].includes(path)),
    [],
  );
});

t.test('no file has more than 300 lines', async (t) => {
  t.same(
    files.filter(({ lines }) => lines > 300).map(({ path, lines }) => `${path} ${lines}`),
    [],
  );
});

t.test('nothing is named for being of use', async (t) => {
  const vague = /^(utils?|helpers?|commons?|types?|managers?|services?|misc|shared|lib)$/;
  const names = (path: string) =>
    [basename(path, '.ts'), ...dirname(path).split('/')].flatMap((name) => name.split('-'));
  t.same(
    files.filter(({ path }) => names(path).some((name) => vague.test(name))).map(({ path }) => path),
    [],
  );
  t.same(
    files.filter(({ path }) => !/^[a-z0-9/-]+\.ts$/.test(path)).map(({ path }) => path),
    [],
    'files are kebab-case',
  );
});

t.test('no import leads back to where it came from', async (t) => {
  const atRunTime = files.map(({ path, imports }) => {
    return [path, imports.filter(({ typeOnly }) => !typeOnly).map(({ to }) => to)] as const;
  });
  t.same(
    findCycles(new Map(atRunTime)).map((cycle) => cycle.join(' → ')),
    [],
  );
});
