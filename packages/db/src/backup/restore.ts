import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type postgres from 'postgres';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import { findPrimary } from '../find-primary.ts';
import { isBeforeFirst, MIGRATIONS, type Migration, readJournal } from '../journal.ts';
import { migrateWithin } from '../migrate.ts';
import { openSingleConnection, openSocket } from '../open-postgres.ts';
import { setLocally } from '../set-locally.ts';
import { copyIn } from './copy-in.ts';
import { type BackupPartition, replacePartitions } from './partitions.ts';
import { BackupError } from './snapshot.ts';
import { type BackupTable, copyTarget, findTables, quoted } from './tables.ts';

const SETTINGS = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  datestyle: 'ISO, YMD',
  timezone: 'UTC',
};

type Columns = Pick<BackupTable, 'name' | 'columns'>;

export interface Target {
  createTables(migration: Migration, partitions: readonly BackupPartition[]): Promise<void>;
  fill(table: Columns, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Expires all leases, so that the next worker takes the rows over. */
  endLeases(): Promise<void>;
  setSequences(sequences: Readonly<Record<string, string>>): Promise<void>;
  upgrade(): Promise<void>;
}

/** Calls `work` in one transaction. Throws `BackupError` if the database has tables. Starting processes wait. */
export async function fillEmptyDatabase(url: string, work: (target: Target) => Promise<void>): Promise<void> {
  const client = openSingleConnection(await findPrimary(url), {
    connect_timeout: 10,
    connection: { application_name: 'carillon restore' },
    // The end of the rows of a table is a small message.
    ...{ socket: openSocket },
  });
  try {
    await client.begin(async (tx) => {
      await setLocally(tx, SETTINGS);
      await tx`select pg_advisory_xact_lock(${ADVISORY_LOCKS.migrate})`;
      await assertEmpty(tx);
      await work({
        async createTables(migration, partitions) {
          await migrateTo(client, tx, migration);
          const tables = await findTables(tx);
          // Unlogged tables, which no backup contains, may reference others.
          await tx.unsafe(`truncate ${tables.map(({ name }) => `public.${quoted(name)}`).join(', ')} cascade`);
          await replacePartitions(tx, partitions);
        },
        async fill(table, chunks) {
          await assertKnown(tx, table);
          const own = `public.${quoted(table.name)}`;
          // The backup contains the counters that the triggers maintain.
          await tx.unsafe(`alter table ${own} disable trigger user`);
          const count = await copyIn(tx.unsafe(`copy ${copyTarget(table)} from stdin`), chunks);
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
  throw new BackupError('notEmpty', `${names.join(', ')}${found.length > 3 ? ' …' : ''}`);
}

async function assertKnown(tx: postgres.TransactionSql, { name, columns }: Columns) {
  const known = (await findTables(tx)).find((table) => table.name === name);
  const unknown = known ? columns.find((column) => !known.columns.includes(column)) : name;
  if (unknown === undefined) return;
  throw new BackupError('unknownColumn', JSON.stringify(unknown));
}

async function endLeases(tx: postgres.TransactionSql) {
  for (const { name, columns } of await findTables(tx)) {
    if (!columns.includes('lease_until')) continue;
    await tx.unsafe(`update public.${quoted(name)} set lease_until = now() where lease_until > now()`);
  }
}

/** Applies the migrations up to the given one, as its release did. */
async function migrateTo(client: postgres.Sql, tx: postgres.TransactionSql, { tag, when }: Migration) {
  if (isBeforeFirst({ when })) {
    throw new BackupError('tooOld', tag);
  }
  const journal = readJournal();
  const at = journal.entries.findIndex((entry) => entry.when === when);
  if (at === -1) {
    throw new BackupError('tooNew', tag);
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
