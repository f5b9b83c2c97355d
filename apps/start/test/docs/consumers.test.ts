import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startCarillon } from '../../src/start.ts';
import { findDifferences } from './compare.ts';
import { getSection, listPages, parseSteps, readPage, type Step } from './pages.ts';
import { runSteps } from './run-steps.ts';

const ADDRESS = 'API=http://127.0.0.1:3000\n';
const FIRST = 'docs/consumers/authentication.md';
const pages = listPages().filter((path) => path.startsWith('docs/consumers/'));
/** All other pages start with these steps. */
const signIn = parseSteps(getSection(readPage(FIRST), 'An account and a token'));

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

/** Each page has its own Carillon, so that ids are the same in every run. */
async function start(t: Test): Promise<string> {
  const { url: DATABASE_URL } = await testDatabase(t);
  const settings = { PORT: '0', DATA_DIR: join(t.testdir(), '.data'), AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const { url, close } = await startCarillon(loadConfig({ DATABASE_URL, ...settings, STORAGE_DRIVER: 'disk' }), 1000);
  t.teardown(close);
  return url;
}

t.test('the first page starts with the URL of the API', async (t) => {
  t.ok(signIn[0]?.code.startsWith(ADDRESS));
});

for (const path of pages) {
  const steps = parseSteps(readPage(path));
  if (steps.length === 0) continue;
  const skip = ['bash', 'curl'].every(isThere) ? false : 'there is no curl, or no bash';
  t.test(`the commands of ${path} print what the page shows`, { skip }, async (t) => {
    const url = await start(t);
    const before = path === FIRST ? [] : signIn;
    const all = [...before, ...steps].map(
      (step): Step => ({ ...step, code: step.code.replace(ADDRESS, `API=${url}\n`) }),
    );
    const env = { PATH: process.env.PATH, HOME: t.testdirName, LANG: 'C.UTF-8' };
    const printed = (await runSteps(all, { cwd: t.testdirName, env })).slice(before.length);
    for (const [at, { outcome, line, code }] of steps.entries()) {
      const output = printed[at] as string;
      const where = `${path}:${line}`;
      if (outcome) t.same(findDifferences(outcome, output), [], `${where} prints what the page shows`);
      else t.notMatch(output, /"(success|valid)":false/, `${where} succeeds: ${code}`);
    }
  });
}
