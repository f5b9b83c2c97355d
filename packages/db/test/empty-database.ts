import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { MIGRATIONS, readJournal } from '../src/journal.ts';
import { testDatabase } from '../src/test-database.ts';

const DATA = fileURLToPath(new URL('data', import.meta.url));
/** The schema and rows of a database from before the first migration. */
const BEFORE = fileURLToPath(new URL('before-0000.sql', import.meta.url));
/** `<number of a migration>.sql` */
export const RELEASES_WITH_DATA: readonly string[] = readdirSync(DATA);

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/**
 * Creates a database without tables, with the tables and data of an earlier release (migrated up to number `upTo`, with the
 * rows in the files of `data`), or as it was before the first migration. It is dropped at the end of `t`.
 */
export async function emptyDatabase(t: Test, name: string, filled?: { upTo: number; data: boolean } | 'before') {
  const { url: anyDatabase } = await testDatabase(t);
  const admin = postgres(anyDatabase, { max: 1, onnotice: () => {} });
  const own = `${name}_${process.pid}`;
  const template =
    typeof filled === 'object' ? await createRelease(admin, anyDatabase, filled.upTo, filled.data) : 'template1';
  await admin.unsafe(`create database ${own} template ${template}`);
  const url = withDatabaseName(anyDatabase, own);
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  if (filled === 'before') await sql.unsafe(await readFile(BEFORE, 'utf8'));
  t.teardown(async () => {
    await sql.end();
    await admin.unsafe(`drop database ${own} with (force)`);
    await admin.end();
  });
  return { sql, url };
}

const releases = new Map<string, Promise<string>>();

/** Creates the template of a release from that of the release before it, because each test needs another one. */
function createRelease(admin: postgres.Sql, anyDatabase: string, upTo: number, data: boolean): Promise<string> {
  // Databases of this name are dropped once their process has ended.
  const name = `test_${process.pid}_release_${upTo}${data ? '_data' : ''}`;
  const create = async () => {
    const template = upTo === 0 ? 'template1' : await createRelease(admin, anyDatabase, upTo - 1, data);
    await admin.unsafe(`create database ${name} template ${template}`);
    await migrateTo(withDatabaseName(anyDatabase, name), upTo, data);
    return name;
  };
  const known = releases.get(name) ?? create();
  releases.set(name, known);
  return known;
}

async function migrateTo(url: string, upTo: number, data: boolean) {
  const journal = readJournal();
  const entries = journal.entries.slice(0, upTo + 1);
  const folder = await mkdtemp(join(tmpdir(), 'carillon-release-'));
  await cp(MIGRATIONS, folder, { recursive: true });
  await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
  const client = postgres(url, { max: 1, onnotice: () => {} });
  await migrate(drizzle(client), { migrationsFolder: folder });
  const rows = `${entries.at(-1)?.tag.slice(0, 4)}.sql`;
  if (data && RELEASES_WITH_DATA.includes(rows)) await client.unsafe(await readFile(join(DATA, rows), 'utf8'));
  await client.end();
  await rm(folder, { recursive: true });
}

const withDatabaseName = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
