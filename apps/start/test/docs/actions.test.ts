import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '@carillon/api/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../../src/start.ts';
import { parseBlocks, ROOT, readPage } from './pages.ts';

t.test('the program of the page about actions runs', async (t) => {
  const program = parseBlocks(readPage('docs/consumers/actions.md')).find(({ language }) => language === 'ts');
  const { url: DATABASE_URL } = await testDatabase(t);
  const folder = t.testdir();
  const settings = { DATABASE_URL, DATA_DIR: folder, AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const { url, close } = await startCarillon(loadConfig({ ...settings, PORT: '0' }), 1000);
  t.teardown(close);
  const send = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json', 'X-Request-Token': 'true' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { token: string };
  };
  const account = { email: 'ada@example.com', password: 'Carillon-2026' };
  await send('/api/auth/register', { name: 'Ada', ...account });
  const { token } = await send('/api/auth/login', account);

  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(ROOT, 'apps/start/node_modules/@carillon'), join(folder, 'node_modules/@carillon'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'client.ts'), program?.text ?? '');
  const run = async (SESSION?: string) => {
    const env = { PATH: process.env.PATH, ...settings, ...(SESSION && { SESSION }) };
    return (await promisify(execFile)(process.execPath, ['client.ts'], { cwd: folder, env })).stdout;
  };
  t.equal(await run(token), 'made 1\n');
  t.equal(await run(), 'Unauthorized AUTH_REQUIRED\n');
});

t.test('The table of actions has the arguments of every action', async (t) => {
  const [, actions = ''] = readPage('packages/contract/src/actions/index.ts').split('interface Actions');
  const methods = [...actions.matchAll(/^ {2}(\w+)\(session: SessionToken(.*)\): /gm)].map(([, name, args = '']) => [
    name,
    [...args.matchAll(/, (\w+)\??:/g)].map(([, argument]) => argument),
  ]);
  const listNames = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const [, table = ''] = readPage('docs/consumers/actions.md').split('| Action | Arguments');
  const rows = table.split('\n').map((line) => line.split('|'));
  const shown = rows.flatMap(([, names, args]) => listNames(names).map((name) => [name, listNames(args)]));
  t.same(Object.fromEntries(shown), Object.fromEntries(methods));
});
