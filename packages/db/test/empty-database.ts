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

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/**
 * Creates a database without tables, or with the tables and data of an earlier release: migrated up to number `upTo`, with
 * the rows in the files `data`. It is dropped at the end of `t`.
 */
export async function emptyDatabase(t: Test, name: string, filled?: { upTo: number; data: readonly string[] }) {
  const { url: anyDatabase } = await testDatabase(t);
  const admin = postgres(anyDatabase, { max: 1, onnotice: () => {} });
  const own = `${name}_${process.pid}`;
  await admin.unsafe(`create database ${own}`);
  const url = Object.assign(new URL(anyDatabase), { pathname: `/${own}` }).href;
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  t.teardown(async () => {
    await sql.end();
    await admin.unsafe(`drop database ${own} with (force)`);
    await admin.end();
  });
  if (filled) await fill(url, sql, filled);
  return { sql, url };
}

async function fill(url: string, sql: postgres.Sql, { upTo, data }: { upTo: number; data: readonly string[] }) {
  const journal = readJournal();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-release-'));
  await cp(MIGRATIONS, folder, { recursive: true });
  for (const [at, { tag }] of journal.entries.slice(0, upTo + 1).entries()) {
    const entries = journal.entries.slice(0, at + 1);
    await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
    const client = postgres(url, { max: 1, onnotice: () => {} });
    await migrate(drizzle(client), { migrationsFolder: folder });
    await client.end();
    const rows = `${tag.slice(0, 4)}.sql`;
    if (data.includes(rows)) await sql.unsafe(await readFile(join(DATA, rows), 'utf8'));
  }
  await rm(folder, { recursive: true });
}
