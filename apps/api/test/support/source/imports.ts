import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../../../..');

/** One import or re-export of a source file. */
export interface Import {
  /** What it names: a package with its path, `node:…`, or a file of the workspace as `apps/api/src/app.ts`. */
  to: string;
  /** Gone at run time: `import type`. */
  typeOnly: boolean;
  /** The names it takes, as they are written. */
  names: string;
}

export interface SourceFile {
  /** From the root of the repository. */
  path: string;
  /** Without comments. */
  code: string;
  lines: number;
  imports: Import[];
}

/** All source files of the workspace, tests left out. */
export function readSources(): SourceFile[] {
  return globSync('{apps,packages}/*/src/**/*.ts', { cwd: ROOT }).sort().map(readSource);
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return {
    path,
    code: withoutComments(text),
    lines: text.trimEnd().split('\n').length,
    imports: findImports(path, text),
  };
}

/** Biome lays imports out so that these few forms are all there are. */
const STATIC = /^(?:import|export)\s+(type\s+)?(\*[^'"{;]*?|\{[^}]*\}|[\w$]+(?:,\s*\{[^}]*\})?)\s+from\s+'([^']+)'/gm;
const BARE = /^import\s+'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'/g;

/** Exported for its test. */
export function findImports(path: string, text: string): Import[] {
  const to = (specifier: string) =>
    specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), specifier)) : workspaceFile(specifier);
  const named = [...text.matchAll(STATIC)].map(([, type, names = '', specifier = '']) => {
    return { to: to(specifier), typeOnly: type !== undefined, names };
  });
  const others = [...text.matchAll(BARE), ...text.matchAll(DYNAMIC)].map(([, specifier = '']) => {
    return { to: to(specifier), typeOnly: false, names: '' };
  });
  return [...named, ...others];
}

/** `@carillon/db` is `packages/db/src/index.ts`, as its `exports` say. */
function workspaceFile(specifier: string): string {
  const [, name, path] = /^@carillon\/(\w+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return specifier;
  const folder = ['contract', 'db'].includes(name) ? 'packages' : 'apps';
  return `${folder}/${name}/src/${path ?? 'index'}.ts`;
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

/** Whether an import of the workspace leads to a file that is there. */
export const leadsToFile = ({ to }: Import): boolean => !/^(apps|packages)\//.test(to) || existsSync(join(ROOT, to));

/** The files of each circle of imports that is there at run time; none where there is no circle. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const next = new Map(
    files.map(({ path, imports }) => [path, imports.filter(({ typeOnly }) => !typeOnly).map(({ to }) => to)]),
  );
  const cycles: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, way: string[]) => {
    const at = way.indexOf(path);
    if (at !== -1) cycles.push([...way.slice(at), path]);
    if (at !== -1 || done.has(path)) return;
    for (const to of next.get(path) ?? []) walk(to, [...way, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return cycles;
}
