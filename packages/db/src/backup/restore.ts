import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import { MIGRATIONS, type Migration, readJournal } from '../journal.ts';
import { copyIn } from './copy-in.ts';
import { BackupError } from './snapshot.ts';
import { type BackupTable, copyTarget, findTables, quoted } from './tables.ts';

type Columns = Pick<BackupTable, 'name' | 'columns'>;

/** A database that is being filled, in one transaction. */
export interface Target {
  /** Makes the tables as they are after `migration`, all of them empty. */
  createTables(migration: Migration): Promise<void>;
  /** Fills a table with what `copy` of a snapshot has read, and tells how many rows that were. */
  fill(table: Columns, pieces: AsyncIterable<Uint8Array>): Promise<number>;
  /** Ends the leases of those who worked on the rows: whoever looks next takes them over. */
  endLeases(): Promise<void>;
  setSequences(sequences: Readonly<Record<string, string>>): Promise<void>;
  /** Brings what is there to the newest schema. */
  upgrade(): Promise<void>;
}

/**
 * Calls `work` with the database at `url` and commits what it did; when it throws the database is as empty as before.
 * One that has tables already is refused with a `BackupError`. Processes of the service that start meanwhile wait.
 */
export async function fillEmptyDatabase(url: string, work: (target: Target) => Promise<void>): Promise<void> {
  const connection = {
    application_name: 'carillon restore',
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    datestyle: 'ISO, YMD',
    timezone: 'UTC',
  };
  const options = { max: 1, fetch_types: false, connect_timeout: 10, max_lifetime: null, onnotice: () => {} };
  const client = postgres(url, { ...options, connection });
  try {
    await client.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.migrate})`;
      await assertEmpty(tx);
      await work({
        async createTables(migration) {
          await migrateTo(client, tx, migration);
          const tables = await findTables(tx);
          // Migrations put rows of their own into some.
          await tx.unsafe(`truncate ${tables.map(({ name }) => `public.${quoted(name)}`).join(', ')}`);
        },
        async fill(table, pieces) {
          await assertKnown(tx, table);
          const own = `public.${quoted(table.name)}`;
          // What triggers of ours would count is in the backup already.
          await tx.unsafe(`alter table ${own} disable trigger user`);
          const count = await copyIn(tx.unsafe(`copy ${copyTarget(table)} from stdin`), pieces);
          await tx.unsafe(`alter table ${own} enable trigger user`);
          return count;
        },
        endLeases: () => endLeases(tx),
        async setSequences(sequences) {
          for (const [name, last] of Object.entries(sequences)) {
            await tx`select setval(${`public.${quoted(name)}`}::regclass, ${last}::bigint)`;
          }
        },
        upgrade: () => migrateWithin(client, tx, MIGRATIONS),
      });
    });
  } finally {
    await client.end({ timeout: 5 });
  }
}

async function assertEmpty(tx: postgres.TransactionSql) {
  const found = await tx<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace in (select oid from pg_namespace where nspname in ('public', 'drizzle')) and relkind in ('r', 'p', 'v', 'm')
    order by 1`;
  if (found.length === 0) return;
  const names = found.slice(0, 3).map(({ name }) => name);
  throw new BackupError(
    `The database is not empty (${names.join(', ')}${found.length > 3 ? ' …' : ''}): a backup is restored into an empty one alone.`,
  );
}

async function assertKnown(tx: postgres.TransactionSql, { name, columns }: Columns) {
  const known = (await findTables(tx)).find((table) => table.name === name);
  const strange = known ? columns.find((column) => !known.columns.includes(column)) : name;
  if (strange === undefined) return;
  throw new BackupError(`The backup is damaged: its schema has nothing of the name ${JSON.stringify(strange)}.`);
}

async function endLeases(tx: postgres.TransactionSql) {
  for (const { name, columns } of await findTables(tx)) {
    if (!columns.includes('lease_until')) continue;
    await tx.unsafe(`update public.${quoted(name)} set lease_until = now() where lease_until > now()`);
  }
}

/** Applies the migrations as the release had them whose newest was `migration`. */
async function migrateTo(client: postgres.Sql, tx: postgres.TransactionSql, { tag, when }: Migration) {
  const journal = readJournal();
  const at = journal.entries.findIndex((entry) => entry.when === when);
  if (at === -1) {
    throw new BackupError(`The backup is from a newer Carillon (its schema is ${tag}): restore it with that version.`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'carillon-migrations-'));
  try {
    await cp(MIGRATIONS, folder, { recursive: true });
    const entries = journal.entries.slice(0, at + 1);
    await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
    await migrateWithin(client, tx, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Drizzle's migrator opens a transaction; here it is part of the one that is open. */
async function migrateWithin({ options }: postgres.Sql, tx: postgres.TransactionSql, migrationsFolder: string) {
  const inside = {
    options,
    unsafe: tx.unsafe,
    begin: (work: (sql: postgres.TransactionSql) => Promise<unknown>) => tx.savepoint(work),
  };
  await migrate(drizzle(inside as unknown as postgres.Sql), { migrationsFolder });
}
