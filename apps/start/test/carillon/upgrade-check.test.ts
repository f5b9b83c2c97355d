import { settings } from '@carillon/db';
import { readJournal } from '@carillon/db/journal';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { openCarillon, runCarillon } from './run-carillon.ts';

const cwd = t.testdir();
const { db, url: DATABASE_URL } = await testDatabase(t);
const { db: emptyDb, url: emptyUrl } = await testDatabase(t);
const carillon = openCarillon(t);
const check = (url = DATABASE_URL) => carillon(['upgrade', '--check'], { DATABASE_URL: url }, { cwd });
const tags = readJournal().entries.map(({ tag }) => tag);
const [last, beforeLast] = tags.toReversed();

t.test('Without migrations nothing changes, with or without a backup', async (t) => {
  const { code, out } = await runCarillon(['upgrade', '--check'], { DATABASE_URL }, { cwd });
  t.equal(code, 0);
  t.match(out, /^This is version \d.*\nThe database has the schema of this version: .*\nLast backup: none\.\n$/);
});

t.test('Migrations are listed, and need a backup of the last day', async (t) => {
  const newest = sql`(select max(created_at) from drizzle.__drizzle_migrations)`;
  await db.execute(sql`delete from drizzle.__drizzle_migrations where created_at = ${newest}`);
  t.match(await check(), {
    code: 1,
    out: `The database has the schema ${beforeLast}. The next start applies ${last}.\nLast backup: none.\nMake a backup first`,
  });
  await db.update(settings).set({ lastBackupAt: sql`now() - interval '2 days'` });
  t.match(await check(), { code: 1, out: 'Make a backup first' });
  await db.update(settings).set({ lastBackupAt: sql`now() - interval '1 day'` });
  const { code, out } = await carillon(['upgrade', '--check', '--json'], { DATABASE_URL }, { cwd });
  t.equal(code, 0);
  t.match(JSON.parse(out), { schema: beforeLast, migrations: [last], lastBackupAt: /^\d{4}-.*Z$/, ready: true });
});

t.test('A database without tables gets them, and one of a newer version is refused', async (t) => {
  await db.execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`);
  t.match(await check(), { code: 1, out: '', err: /^The database belongs to a newer version of Carillon than / });
  await emptyDb.execute(sql`drop schema public cascade`);
  await emptyDb.execute(sql`drop schema drizzle cascade`);
  await emptyDb.execute(sql`create schema public`);
  t.match(await check(emptyUrl), { code: 0, out: 'The database has no tables yet: the next start creates them.' });
  t.match(await carillon(['setup-link'], { DATABASE_URL: emptyUrl, DATA_DIR: cwd }, { cwd }), {
    code: 0,
    out: /\/setup\?token=[\w-]{27}\n$/,
  });
});

t.test('Without --check the command does nothing', async (t) => {
  t.match(await carillon(['upgrade'], { DATABASE_URL }, { cwd }), { code: 2, err: '--check' });
});
