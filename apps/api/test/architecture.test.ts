import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';
import {
  findCycles,
  findImports,
  type Import,
  leadsToFile,
  readSources,
  type SourceFile,
} from '../../../scripts/imports.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const files = readSources();
const API = 'apps/api/src/';
const API_FOLDER = resolve(ROOT, API);

/** From above to below. A tier imports only itself and the tiers below it; type imports count. */
const TIERS = ['entry', 'handlers', 'product', 'platform', 'lib'];
/** The files between the tiers: `main.ts` is above all, and `lib/` knows only the errors. */
const LOOSE = new Map([
  ['main.ts', -1],
  ['context.ts', TIERS.indexOf('platform')],
  ['transaction.ts', TIERS.indexOf('platform')],
  ['errors.ts', TIERS.length],
]);
/** `@fastify/jwt` works on a Fastify instance only. */
const TOKENS = `${API}product/auth/tokens.ts`;

/** `file → import` for each import of the selected files that `allowed` rejects. */
function findViolations(
  selects: (path: string) => boolean,
  allowed: (imported: Import, file: SourceFile) => boolean,
): string[] {
  const selected = files.filter(({ path }) => selects(path));
  if (selected.length === 0) throw new Error('The rule selects no file.');
  return selected.flatMap((file) =>
    file.imports.filter((imported) => !allowed(imported, file)).map(({ to }) => `${file.path} → ${to}`),
  );
}

/** Files of the API whose code, comments left out, matches. */
const filesMatching = (pattern: RegExp) =>
  files.filter(({ path, code }) => path.startsWith(API) && pattern.test(code)).map(({ path }) => path);

const isIn = (folder: string) => (path: string) => path.startsWith(folder);
const isOfWorkspace = (to: string) => to.startsWith('apps/') || to.startsWith('packages/');
const isFastify = (to: string) => /^@?fastify(\/|-|$)/.test(to);
const isDatabase = (to: string) => to.startsWith('packages/db/') || to.startsWith('drizzle-orm');

const isRoutes = (path: string) => path.startsWith(API) && /[/-]routes\.ts$/.test(path);
const isAction = isIn(`${API}handlers/actions/`);
const isTool = isIn(`${API}handlers/mcp/`);
/** What the routes share: they know Fastify. */
const isHttp = (path: string) =>
  ['platform/http/', 'handlers/openapi/', 'product/auth/guard.ts'].some((prefix) => path.startsWith(API + prefix));
/** Files that put the modules together. */
const isComposition = (path: string) => path === `${API}main.ts` || path.startsWith(`${API}entry/`);
const isHandler = (path: string) => isRoutes(path) || isAction(path) || isTool(path) || isHttp(path);
const isService = (path: string) => path.startsWith(API) && !isHandler(path) && !isComposition(path) && path !== TOKENS;

t.test('Imports are read in every form that the formatter leaves', async (t) => {
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
        ['a', ['b', 'c']],
        ['b', ['c']],
        ['c', ['d']],
        ['d', ['b']],
      ]),
    ),
    [['b', 'c', 'd', 'b']],
  );
  t.same(
    findCycles(
      new Map([
        ['a', ['b', 'c']],
        ['b', ['c']],
        ['c', []],
      ]),
    ),
    [],
  );
  const imports = files.flatMap((file) => file.imports);
  t.ok(imports.length > 300, `${imports.length} imports`);
  t.same(
    imports.filter((one) => !leadsToFile(one)),
    [],
  );
});

t.test('Packages know nothing above them, nor each other', async (t) => {
  for (const folder of [
    'packages/contract/',
    'packages/db/',
    'packages/client/',
    'packages/json-schema/',
    'packages/runtime/',
    'packages/texts/',
  ]) {
    t.same(
      findViolations(isIn(folder), ({ to }) => !isOfWorkspace(to) || to.startsWith(folder)),
      [],
    );
  }
});

t.test('The client package needs only what browsers have', async (t) => {
  const folder = 'packages/client/';
  t.same(
    findViolations(isIn(folder), ({ to }) => to.startsWith(`${folder}src/`)),
    [],
  );
  t.notOk(JSON.parse(readFileSync(`${ROOT}/${folder}package.json`, 'utf8')).dependencies);
});

t.test('The scheduler is a client: it knows neither the API nor the database', async (t) => {
  const folder = 'apps/scheduler/';
  t.same(
    findViolations(
      isIn(folder),
      ({ to }) =>
        !isOfWorkspace(to) || [folder, 'packages/contract/', 'packages/runtime/'].some((known) => to.startsWith(known)),
    ),
    [],
  );
});

t.test('The dashboard knows the contract, the texts, and in one file the types of the actions', async (t) => {
  const folder = 'apps/web/';
  const isOfActions = ({ to, typeOnly }: Import, { path }: SourceFile) =>
    path === `${folder}src/actions.ts` && to === `${API}handlers/actions/web/build.ts` && typeOnly;
  t.same(
    findViolations(
      isIn(folder),
      (imported, file) =>
        !isOfWorkspace(imported.to) ||
        [folder, 'packages/contract/', 'packages/texts/'].some((known) => imported.to.startsWith(known)) ||
        isOfActions(imported, file),
    ),
    [],
  );
});

t.test('schedule/ is pure: it knows the contract, the texts and its libraries', async (t) => {
  const folder = `${API}product/schedule/`;
  const libraries = ['croner', 'lru-cache', 'temporal-polyfill'];
  t.same(
    findViolations(
      isIn(folder),
      ({ to }) =>
        [folder, 'packages/contract/', 'packages/texts/'].some((known) => to.startsWith(known)) ||
        libraries.includes(to),
    ),
    [],
  );
});

t.test('A tier imports only tiers below it', async (t) => {
  const tierOf = (path: string) => {
    const [first = ''] = path.slice(API.length).split('/');
    return LOOSE.get(first) ?? TIERS.indexOf(first);
  };
  const folders = readdirSync(API_FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  t.same(folders.map(({ name }) => name).sort(), [...TIERS].sort());
  t.same(
    findViolations(isIn(API), ({ to }, { path }) => !to.startsWith(API) || tierOf(to) >= tierOf(path)),
    [],
  );
});

t.test('lib/ knows libraries, packages and the errors, and not Fastify', async (t) => {
  t.same(
    findViolations(isIn(`${API}lib/`), ({ to }) => !isFastify(to)),
    [],
  );
});

t.test('Services import neither Fastify nor a handler', async (t) => {
  t.same(
    findViolations(isService, ({ to }) => !isFastify(to) && !isHandler(to) && !isComposition(to)),
    [],
  );
});

t.test('Only handlers, what they share and the composition of the application know Fastify', async (t) => {
  t.same(
    findViolations(
      // Benchmarks compare with any framework.
      (path) =>
        !isRoutes(path) &&
        !isHttp(path) &&
        !isComposition(path) &&
        path !== TOKENS &&
        !path.startsWith('apps/bench/') &&
        !path.startsWith('apps/web/'),
      ({ to }) => !isFastify(to),
    ),
    [],
  );
});

t.test('Handlers write no SQL', async (t) => {
  t.same(
    findViolations(
      (path) => isRoutes(path) || isAction(path) || isTool(path),
      ({ to }) => !isDatabase(to),
    ),
    [],
  );
});

t.test('The clock is read in one file, and the environment in another', async (t) => {
  t.same(filesMatching(/new Date\(\)|Date\.now\(\)|\bDate\(\)|Temporal\.Now/), [`${API}context.ts`]);
  t.same(
    filesMatching(/process\.env/).filter((path) => !path.startsWith(`${API}lib/config/`) && path !== `${API}main.ts`),
    [],
  );
});

t.test('One file opens transactions', async (t) => {
  t.same(filesMatching(/\.transaction\(/), [`${API}transaction.ts`]);
});

t.test('No file imports itself by way of others, type imports counted', async (t) => {
  const imports = new Map(files.map(({ path, imports }) => [path, imports.map(({ to }) => to)]));
  t.same(
    findCycles(imports).map((cycle) => cycle.join(' → ')),
    [],
  );
});

t.test('No room of the API imports itself by way of others, type imports counted', async (t) => {
  const toRoom = (path: string) => path.slice(API.length).split('/').slice(0, 2).join('/');
  const imports = new Map<string, string[]>();
  for (const file of files.filter(({ path }) => path.startsWith(API))) {
    const from = toRoom(file.path);
    const others = file.imports.filter(({ to }) => to.startsWith(API) && toRoom(to) !== from);
    imports.set(from, [...(imports.get(from) ?? []), ...others.map(({ to }) => toRoom(to))]);
  }
  t.same(
    findCycles(imports).map((cycle) => cycle.join(' → ')),
    [],
  );
});
