import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/lib/config/config';
import { type Db, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { startCarillon } from '../../apps/start/src/start.ts';
import { findDifferences } from './compare.ts';
import { getSection, listPages, parseSteps, readPage, type Step } from './pages.ts';
import { runSteps } from './run-steps.ts';

const ADDRESS = 'API=http://127.0.0.1:3000\n';
const FIRST = 'docs/consumers/authentication.md';
const pages = listPages().filter((path) => path.startsWith('docs/consumers/'));
const [register, logIn] = parseSteps(getSection(readPage(FIRST), 'An account and a token')) as [Step, Step];

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;
const skip = ['bash', 'curl'].every(isThere) ? false : 'there is no curl, or no bash';

let url: string;
let db: Db;
const folder = t.testdir();
const env = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' };

t.before(async () => {
  const database = await testDatabase(t);
  db = database.db;
  const settings = { PORT: '0', DATA_DIR: join(folder, '.data'), AI_BASE_URL: 'offline', LOG_LEVEL: 'silent' };
  const config = loadConfig({ DATABASE_URL: database.url, ...settings, STORAGE_DRIVER: 'disk' });
  const carillon = await startCarillon(config, 1000);
  t.teardown(carillon.close);
  url = carillon.url;
});

/** So that each page finds the account as it was, and the ids that it shows. */
async function deleteAllButAccount(): Promise<void> {
  const tables = await queryRows<{ name: string }>(
    db,
    sql`select quote_ident(relname) as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not in ('users', 'settings', 'scheduler_state')`,
  );
  // Its triggers count the tasks of the account.
  await db.execute(sql`delete from tasks`);
  await db.execute(sql.raw(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity`));
  const mails = join(folder, '.data/mail');
  for (const name of existsSync(mails) ? readdirSync(mails) : []) rmSync(join(mails, name));
}

t.test('the first page starts with the URL of the API', async (t) => {
  t.ok(register.code.startsWith(ADDRESS));
});

// The first page ends the sessions of the account, which it makes.
for (const path of [FIRST, ...pages.filter((page) => page !== FIRST)]) {
  const steps = parseSteps(readPage(path));
  if (steps.length === 0) continue;
  t.test(`the commands of ${path} print what the page shows`, { skip }, async (t) => {
    const before = path === FIRST ? [] : [{ code: ADDRESS, line: 0, outcome: null }, logIn];
    if (path !== FIRST) await deleteAllButAccount();
    const all = [...before, ...steps].map(
      (step): Step => ({ ...step, code: step.code.replace(ADDRESS, `API=${url}\n`) }),
    );
    const printed = (await runSteps(all, { cwd: folder, env })).slice(before.length);
    for (const [at, { outcome, line, code }] of steps.entries()) {
      const output = printed[at] as string;
      const where = `${path}:${line}`;
      if (outcome) t.same(findDifferences(outcome, output), [], `${where} prints what the page shows`);
      else t.notMatch(output, /"(success|valid)":false/, `${where} succeeds: ${code}`);
    }
  });
}
