import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '@carillon/api/lib/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { parseBlocks, ROOT, readPage } from './pages.ts';

const run = promisify(execFile);
const blocks = parseBlocks(readPage('docs/consumers/actions.md'));
const { text: program = '' } = blocks.find(({ language }) => language === 'ts') ?? {};
const { text: output = '' } = blocks.find(({ language }) => language === 'text') ?? {};

/** A package with the program, in which nothing else that Carillon uses is installed. */
function createPackage(t: Test): string {
  const folder = t.testdir({
    'package.json': '{"type": "module"}',
    'client.ts': program,
    node_modules: { '@carillon': {}, '@types': {} },
  });
  // As a package manager links a folder.
  symlinkSync(join(ROOT, 'apps/api'), join(folder, 'node_modules/@carillon/api'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  return folder;
}

/** Starts Carillon with these settings, runs the program beside it, and returns what it prints. */
async function runBeside(t: Test, folder: string, databaseSettings: Record<string, string>): Promise<string> {
  const settings = { ...databaseSettings, AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const { close } = await startCarillon(loadConfig({ ...settings, PORT: '0' }), 1000);
  t.teardown(close);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...settings, PASSWORD: 'Carillon-2026' };
  return (await run(process.execPath, ['client.ts'], { cwd: folder, env })).stdout.trim();
}

t.test('The program of the page about actions runs beside the embedded database', async (t) => {
  const outer = mkdtempSync(join(tmpdir(), 'carillon-actions-'));
  // Root runs the server as another user, who needs access.
  chmodSync(outer, 0o755);
  t.teardown(() => rmSync(outer, { recursive: true, force: true }));
  t.equal(await runBeside(t, createPackage(t), { DATA_DIR: join(outer, 'data') }), output.trim());
});

t.test('The program of the page about actions type-checks and runs in another package', async (t) => {
  const folder = createPackage(t);
  const { url: DATABASE_URL } = await testDatabase(t);
  const strict = ['--strict', '--skipLibCheck', 'false', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const modules = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', '--noEmit'];
  const checking = run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, ...modules, 'client.ts'], { cwd: folder });
  t.equal(
    await checking.then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    ),
    '',
  );
  t.equal(await runBeside(t, folder, { DATABASE_URL, DATA_DIR: folder }), output.trim());
});

t.test('The table of actions has the arguments of every action', async (t) => {
  const [, actions = ''] = readPage('apps/api/types/actions.d.ts').split('interface Actions');
  const [declared = ''] = actions.split('\n}\n');
  const methods = [...declared.matchAll(/^ {2}(\w+)\((?:session: SessionToken|client: Client)(.*)\): /gm)].map(
    ([, name, args = '']) => [name, [...args.matchAll(/, (\w+)\??:/g)].map(([, argument]) => argument)],
  );
  const listNames = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const [, table = ''] = readPage('docs/consumers/actions.md').split('| Action | Arguments');
  const rows = table.split('\n').map((line) => line.split('|'));
  const shown = rows.flatMap(([, names, args]) => listNames(names).map((name) => [name, listNames(args)]));
  t.same(Object.fromEntries(shown), Object.fromEntries(methods));
});
