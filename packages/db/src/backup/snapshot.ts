import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import postgres from 'postgres';
import { type Migration, newestApplied } from '../journal.ts';
import { type BackupTable, copyTarget, findTables, quoted } from './tables.ts';

/** What a command may hand to its operator as the one line that it failed with. */
export class BackupError extends Error {}

/** One instant of a database, whatever is written to it meanwhile. Its parts are read one after the other. */
export interface Snapshot {
  /** The newest migration that the database has. */
  migration: Migration;
  /** Each after those that it refers to. */
  tables: BackupTable[];
  /** The rows of a table in the text format of COPY, a line each, in pieces of any length. */
  copy(table: BackupTable): AsyncIterable<Buffer>;
  /** The keys of the uploads whose bytes are in the file storage, some hundreds at a time. */
  uploadKeys(): AsyncIterable<string[]>;
  /** How far each sequence has come: not less than any row of the snapshot. */
  sequences(): Promise<Record<string, string>>;
}

/** Values are written so that a server with any settings reads them the same way. */
const SETTINGS = {
  application_name: 'carillon backup',
  statement_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  lock_timeout: 60_000,
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  extra_float_digits: 3,
  timezone: 'UTC',
};
const KEYS_AT_ONCE = 500;

/**
 * Calls `work` with a snapshot of the database at `url`, in a transaction that reads only and holds up nobody but
 * migrations. Throws a `BackupError` where there is nothing that this version can read.
 */
export async function readSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const options = { max: 1, fetch_types: false, connect_timeout: 10, max_lifetime: null, onnotice: () => {} };
  const client = postgres(url, { ...options, connection: SETTINGS });
  try {
    const known = await findTables(client);
    return (await client.begin('isolation level repeatable read read only', async (tx) => {
      // A migration that rewrites a table shows it empty to a snapshot that is older: it has to wait, and so do we.
      if (known.length > 0) {
        await tx.unsafe(
          `lock table ${known.map(({ name }) => `public.${quoted(name)}`).join(', ')} in access share mode`,
        );
      }
      const migration = await newestApplied(tx);
      if (!migration) throw new BackupError('The database has no tables yet: there is nothing to back up.');
      const tables = await findTables(tx);
      const names = (list: readonly BackupTable[]) => list.map((table) => `${table.name} ${table.columns}`).join();
      if (names(tables) !== names(known)) throw new BackupError('The database was migrated meanwhile: start again.');
      return work({
        migration,
        tables,
        copy: (table) => copyOut(tx, table),
        uploadKeys: () => uploadKeys(tx),
        sequences: () => readSequences(tx),
      });
    })) as T;
  } finally {
    await client.end({ timeout: 5 });
  }
}

async function* copyOut(tx: postgres.TransactionSql, table: BackupTable): AsyncGenerator<Buffer> {
  const query = tx.unsafe(`copy ${copyTarget(table)} to stdout`);
  const stream: Readable = await query.readable();
  try {
    yield* stream.iterator({ destroyOnReturn: false });
  } finally {
    // The driver pauses its socket while the stream is full. When the end has come by then nobody reads on, and the
    // answer to the next statement would never be seen.
    stream._read(0);
    // Whoever stops early leaves a server that goes on sending.
    if (!stream.readableEnded) {
      query.cancel();
      stream.resume();
      await finished(stream).catch(() => {});
    }
  }
}

async function* uploadKeys(tx: postgres.TransactionSql): AsyncGenerator<string[]> {
  const query = tx<{ key: string }[]>`select storage_key as key from public.uploads where storage = 'blob'`;
  for await (const found of query.cursor(KEYS_AT_ONCE)) yield found.map(({ key }) => key);
}

async function readSequences(tx: postgres.TransactionSql): Promise<Record<string, string>> {
  const found = await tx<{ name: string; last: string }[]>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = 'public' and last_value is not null`;
  return Object.fromEntries(found.map(({ name, last }) => [name, last]));
}
