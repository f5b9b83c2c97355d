import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** One import or re-export of a file. */
export interface Import {
  /** A package with its path, `node:…`, or a file of the workspace such as `apps/api/src/entry/app.ts`. */
  to: string;
  /** True for `import type`. */
  typeOnly: boolean;
  /** The imported names as written. */
  names: string;
}

export interface SourceFile {
  /** From the root of the repository. */
  path: string;
  /** Without comments. */
  code: string;
  imports: Import[];
}

/** The files of the workspace that match a glob; by default all sources, without tests. */
export function readSources(pattern: string | readonly string[] = '{apps,packages}/*/src/**/*.ts'): SourceFile[] {
  return globSync(pattern, { cwd: ROOT }).sort().map(readSource);
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return {
    path,
    code: withoutComments(text),
    imports: findImports(path, text),
  };
}

// The formatter leaves only these forms.
const STATIC = /^(?:import|export)\s+(type\s+)?(\*[^'"{;]*?|\{[^}]*\}|[\w$]+(?:,\s*\{[^}]*\})?)\s+from\s+'([^']+)'/gm;
const BARE = /^import\s+'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'/g;

/** The imports in the text of a file at `path`. */
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

/** `@carillon/db` is `packages/db/src/index.ts`, as the `exports` of its manifest say. */
function workspaceFile(specifier: string): string {
  const [, name, path] = /^@carillon\/([\w-]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined) return specifier;
  if (name === 'client') return 'packages/client/src/index.ts';
  const folder = existsSync(join(ROOT, 'packages', name)) ? 'packages' : 'apps';
  const { exports } = JSON.parse(readFileSync(join(ROOT, folder, name, 'package.json'), 'utf8'));
  const entry = exports[path ? `./${path}` : '.'] ?? exports['./*'].replace('*', path);
  return join(folder, name, typeof entry === 'string' ? entry : entry.default);
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

/** Whether an import of a workspace file resolves to an existing file. */
export const leadsToFile = ({ to }: Import): boolean => !/^(apps|packages)\//.test(to) || existsSync(join(ROOT, to));

/** Each cycle of a graph that maps a node to those it points at, as the nodes along it; other nodes end a path. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, path: string[]) => {
    const at = path.indexOf(node);
    if (at !== -1) cycles.push([...path.slice(at), node]);
    if (at !== -1 || done.has(node)) return;
    for (const next of new Set(graph.get(node))) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}
