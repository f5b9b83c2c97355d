import { readFileSync } from 'node:fs';

interface Package {
  name: string;
  version: string;
}

const FOLDER = new URL('../', import.meta.url);

const readPackage = (path: string) => JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'));

/** The installed packages that only the baselines and the load use: the development dependencies, without types. */
export function readPackageVersions(): Package[] {
  const { devDependencies } = readPackage('package.json') as { devDependencies: Record<string, string> };
  return Object.keys(devDependencies)
    .filter((name) => !name.startsWith('@types/'))
    .map((name) => ({ name, version: readPackage(`node_modules/${name}/package.json`).version }));
}
