import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../../docs/pages.ts';

/** The oldest and the newest compiler that programs of users may have. The newest is much faster. */
const COMPILERS = {
  oldest: join(ROOT, 'test/node_modules/typescript/bin/tsc'),
  newest: join(ROOT, 'node_modules/typescript/bin/tsc'),
};

export const compile = (version: keyof typeof COMPILERS, given: string[], cwd: string): Promise<string> =>
  run(process.execPath, [COMPILERS[version], ...given], { cwd });

const SOURCE = join(ROOT, 'packages/client');

/** Creates a temporary folder outside the repository, whose packages programs must not find. */
export function createFolder(t: { teardown(work: () => void): unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-client-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Builds the package in a copy with `npm pack`, and returns the path of the archive. */
export async function packClient(folder: string): Promise<string> {
  const copy = join(folder, 'package');
  const isSource = (path: string) => !/\/(node_modules|dist|test|generate)(\/|$)/.test(path.slice(SOURCE.length));
  cpSync(SOURCE, copy, { recursive: true, filter: isSource });
  symlinkSync(join(SOURCE, 'node_modules'), join(copy, 'node_modules'));
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy });
  return join(folder, 'carillon-client-0.1.0.tgz');
}

/** Creates an empty project with the archive installed. */
export async function createProject(folder: string, archive: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}');
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder });
}

/** Adds the types of Node.js to a project. */
export function installNodeTypes(folder: string): void {
  const types = dirname(realpathSync(join(ROOT, 'node_modules/@types/node')));
  for (const name of ['@types/node', 'undici-types']) {
    cpSync(realpathSync(join(types, '..', name)), join(folder, 'node_modules', name), {
      recursive: true,
    });
  }
}

/** Runs a program and returns what it prints to its standard output. Throws with all that it prints if it fails. */
export function run(
  program: string,
  given: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { PATH, HOME, npm_config_update_notifier: 'false', ...env }, timeout: 120_000 };
    // Without the Node options that tap gives to every child.
    execFile('env', ['-u', 'NODE_OPTIONS', program, ...given], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program} ${given.join(' ')}: ${error.message}\n${stdout}${stderr}`));
      else resolve(stdout);
    });
  });
}
