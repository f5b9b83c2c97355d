import { spawnSync } from 'node:child_process';
import { loadConfig } from '@carillon/api/config/config';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startCarillon } from '../../src/start.ts';
import { differences } from './compare.ts';
import { listPages, readPage, type Step, sectionOf, stepsOf } from './pages.ts';
import { runSteps } from './run-steps.ts';

const ADDRESS = 'API=http://127.0.0.1:3000\n';
const FIRST = 'docs/consumers/authentication.md';
const pages = listPages().filter((path) => path.startsWith('docs/consumers/'));
/** What every other page takes for granted. */
const signIn = stepsOf(sectionOf(readPage(FIRST), 'An account and a token'));

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

/** A Carillon of its own for a page, as `pnpm start` runs it; its database tells the same ids each time. */
async function start(t: Test): Promise<string> {
  const { url: DATABASE_URL } = await testDatabase(t);
  const settings = { PORT: '0', DATA_DIR: t.testdir(), AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const { url, close } = await startCarillon(loadConfig({ DATABASE_URL, ...settings, STORAGE_DRIVER: 'disk' }), 1000);
  t.teardown(close);
  return url;
}

t.test('the first page begins with where the API is', async (t) => {
  t.ok(signIn[0]?.code.startsWith(ADDRESS));
});

for (const path of pages) {
  const steps = stepsOf(readPage(path));
  if (steps.length === 0) continue;
  const skip = ['bash', 'curl'].every(isThere) ? false : 'there is no curl, or no bash';
  t.test(`what ${path} says to type does what it says`, { skip }, async (t) => {
    const url = await start(t);
    const before = path === FIRST ? [] : signIn;
    const all = [...before, ...steps].map(
      (step): Step => ({ ...step, code: step.code.replace(ADDRESS, `API=${url}\n`) }),
    );
    const env = { PATH: process.env.PATH, HOME: t.testdirName, LANG: 'C.UTF-8' };
    const printed = (await runSteps(all, { cwd: t.testdirName, env })).slice(before.length);
    for (const [at, { outcome, line, code }] of steps.entries()) {
      const said = printed[at] as string;
      const where = `${path}:${line}`;
      if (outcome) t.same(differences(outcome, said), [], `${where} prints what is shown`);
      else t.notMatch(said, /"(success|valid)":false/, `${where} is not refused: ${code}`);
    }
  });
}
