import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { readSources } from './imports.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** These import every module, so following them would select every test for any change. */
const COMPOSITION = [
  'apps/api/src/main.ts',
  ...['app', 'open-context', 'serve', 'worker'].map((name) => `apps/api/src/entry/${name}.ts`),
  'apps/api/test/support/context.ts',
];
/** Files that no import leads to and that any test may depend on. */
const AFFECTS_ALL =
  /^(package\.json|pnpm-|tsconfig|\.taprc|scripts\/(?!generate)|packages\/db\/migrations\/|.*\/package\.json)/;
/** Pages, and other files that only the tests of the documentation read. */
const DOCUMENTATION = /^(docs\/|deploy\/|Dockerfile|compose\.yaml|\.env\.example|[^/]+\.md$|.*README\.md$)/;

/**
 * The tests of `testFiles` that the changes since `revision` can reach, uncommitted and untracked files included. A test
 * is reached if it imports a changed file, directly or by way of others, or if it lies in the folder that mirrors a reached
 * source file, since it may call that by HTTP. Type imports do not count: they cannot change behaviour.
 */
export function selectChanged(testFiles: readonly string[], revision = 'HEAD'): string[] {
  return selectReached(testFiles, changedFiles(revision));
}

function changedFiles(revision: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', revision), ...git('ls-files', '--others', '--exclude-standard')];
}

/** As `selectChanged`, for a list of changed paths. */
export function selectReached(testFiles: readonly string[], changed: readonly string[]): string[] {
  if (changed.some((path) => AFFECTS_ALL.test(path))) return [...testFiles];
  const importers = readImporters();
  const reached = new Set<string>(changed);
  for (const path of reached) {
    for (const importer of importers.get(path) ?? []) if (!COMPOSITION.includes(importer)) reached.add(importer);
  }
  const folders = [...reached].filter((path) => path.includes('/src/')).map(mirrorFolder);
  if (changed.some((path) => DOCUMENTATION.test(path))) folders.push('test/docs/', 'test/deploy/');
  return testFiles.filter((file) => reached.has(file) || folders.some((folder) => file.startsWith(folder)));
}

/** Each file of the workspace with the files that import it at run time. */
function readImporters(): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of readSources(['{apps,packages}/*/{src,test}/**/*.ts', 'test/**/*.ts'])) {
    for (const { to, typeOnly } of imports) {
      if (!typeOnly) importers.set(to, [...(importers.get(to) ?? []), path]);
    }
  }
  return importers;
}

/** `apps/api/src/product/tasks/write.ts` → `apps/api/test/tasks/`; a file at the top of `src` → every test of its package. */
const mirrorFolder = (path: string) =>
  path.replace(/\/src\/(?:(?:entry|handlers|product|platform|lib)\/)?/, '/test/').replace(/[^/]*$/, '');
