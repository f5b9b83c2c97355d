import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '@carillon/api/lib/config/config';
import { Carillon } from '@carillon/client/source';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { parseBlocks, ROOT, readPage } from './pages.ts';

const blocks = parseBlocks(readPage('docs/consumers/mcp.md'));

t.test('The programs of the page about assistants list the tasks of a key', async (t) => {
  const { url: DATABASE_URL } = await testDatabase(t);
  const folder = t.testdir({ 'package.json': '{"type": "module"}', node_modules: {} });
  const settings = { DATABASE_URL, DATA_DIR: folder, AI_BASE_URL: 'offline', LOG_LEVEL: 'silent', PORT: '0' };
  const { url, close } = await startCarillon(loadConfig(settings), 1000);
  t.teardown(close);
  symlinkSync(
    join(ROOT, 'apps/api/node_modules/@modelcontextprotocol'),
    join(folder, 'node_modules/@modelcontextprotocol'),
  );
  const account = { email: 'ada@example.com', password: 'Carillon-2026' };
  const visitor = new Carillon({ baseUrl: url });
  await visitor.auth.register({ name: 'Ada', ...account });
  const { token } = await visitor.auth.login(account);
  const carillon = new Carillon({ baseUrl: url, apiKey: token });
  const { secret } = await carillon.keys.create({ name: 'Assistant', scopes: ['tasks:read', 'tasks:write'] });
  await carillon.tasks.create({
    name: 'Friday question',
    prompt: 'What is worth reading?',
    scheduledFor: '2099-01-02T17:00:00Z',
    recurrence: 'weekly',
    timezone: 'UTC',
  });

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, CARILLON_URL: url, CARILLON_API_KEY: secret };
  const programs = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  const printed = await Promise.all(
    programs.map(async (program, at) => {
      writeFileSync(join(folder, `program-${at}.ts`), program);
      return (await promisify(execFile)(process.execPath, [`program-${at}.ts`], { cwd: folder, env })).stdout;
    }),
  );
  t.equal(printed.length, 2);
  for (const output of printed) t.match(output, "name: 'Friday question'");
  t.match(printed[0], /^2026-07-28 /, 'the newer package speaks the newer protocol');
});

t.test('The files of the page about assistants are JSON with the address of the server', async (t) => {
  const files = blocks.filter(({ language, text }) => language === 'json' && /[sS]ervers"/.test(text));
  t.equal(files.length, 4);
  for (const { text } of files) t.match(JSON.stringify(JSON.parse(text)), 'http://127.0.0.1:3000/mcp');
});
