import { globSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Where packages are written, without another folder. */
export const DIST = join(ROOT, 'dist');

export interface Manifest {
  name: string;
  version: string;
  exports?: Record<string, string | Record<string, string>>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface Package {
  folder: string;
  manifest: Manifest;
}

/** A package that Carillon needs, by name and exact version. */
export interface Needed {
  name: string;
  version: string;
  /** Null for an optional one that is for another platform. */
  folder: string | null;
  isOptional: boolean;
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The manifest of the repository, whose version all have. */
export const repository = readManifest(ROOT);

/** The packages of the workspace that one of them runs with, itself included. */
export function listWorkspacePackages(name: string): Package[] {
  const all = globSync('{apps,packages}/*/package.json', { cwd: ROOT }).map((path) => {
    const folder = join(ROOT, path, '..');
    return { folder, manifest: readManifest(folder) };
  });
  const found = new Map<string, Package>();
  const visit = (wanted: string) => {
    const own = all.find(({ manifest }) => manifest.name === wanted);
    if (!own || found.has(wanted)) return;
    found.set(wanted, own);
    for (const next of Object.keys(own.manifest.dependencies ?? {})) visit(next);
  };
  visit(name);
  return [...found.values()];
}

/** What these packages need from the registry, in the versions that are installed. Throws if two of them differ. */
export function listNeeded(packages: readonly Package[]): Needed[] {
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  const needed = new Map<string, Needed>();
  for (const { folder, manifest } of packages) {
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const [name, range] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      if (own.has(name)) continue;
      const isOptional = name in optionalDependencies;
      const installed = findInstalled(folder, name);
      if (!installed && !isOptional) throw new Error(`${manifest.name} needs ${name}, which is not installed.`);
      const version = installed?.manifest.version ?? range;
      const known = needed.get(name);
      if (known && known.version !== version) {
        throw new Error(`${name} is installed in the versions ${known.version} and ${version}: use one.`);
      }
      needed.set(name, { name, version, folder: installed?.folder ?? null, isOptional });
    }
  }
  return [...needed.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

export function findInstalled(folder: string, name: string): Package | null {
  try {
    const real = realpathSync(join(folder, 'node_modules', name));
    return { folder: real, manifest: readManifest(real) };
  } catch {
    return null;
  }
}

interface WorkspaceSettings {
  patchedDependencies: Record<string, string>;
  overrides: Record<string, string>;
}

/** The names of patched packages, and of those that no package may bring along. */
export function readWorkspaceSettings(): { patched: string[]; excluded: string[] } {
  const settings: WorkspaceSettings = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  const patched = Object.keys(settings.patchedDependencies).map((key) => key.replace(/@[^@]+$/, ''));
  const excluded = Object.entries(settings.overrides).flatMap(([name, use]) =>
    use === '-' && !name.includes('>') ? [name] : [],
  );
  return { patched, excluded };
}
