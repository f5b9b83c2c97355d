import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type postgres from 'postgres';
import { findPrimary } from '../find-primary.ts';
import { findNewestApplied, type Migration } from '../journal.ts';

import { openSingleConnection } from '../open-postgres.ts';
import { setLocally } from '../set-locally.ts';

import { type BackupPartition, findPartitions } from './partitions.ts';

import { type BackupTable, copyTarget, findTables, quoted } from './tables.ts';

/** A failure whose message is one line for the operator. */
/** `detail` names what the problem is about, such as a table. */
export class BackupError extends Error {
  readonly problem: 'notEmpty' | 'unknownColumn' | 'tooOld' | 'tooNew' | 'noTables' | 'migrated';
  readonly detail: string;
  constructor(problem: BackupError['problem'], detail = '') {
    super(`${problem} ${detail}`.trimEnd());
    this.problem = problem;
    this.detail = detail;
  }
}

/** The database at one instant. Read its parts one after the other. */
export interface Snapshot {
  migration: Migration;
  /** Ordered: each table after those that it references. */
  tables: BackupTable[];
  partitions: BackupPartition[];
  copy(table: BackupTable): AsyncIterable<Buffer>;
  uploadKeys(): AsyncIterable<string[]>;
  /** The last value of each sequence, at least that of any row of the snapshot. */
  sequences(): Promise<Record<string, string>>;
}

/** The formats are independent of the settings of the server that reads them. */
const SETTINGS = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  lock_timeout: '60s',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  timezone: 'UTC',
};
const KEYS_PER_BATCH = 500;

/** Calls `work` in a read-only transaction that blocks only migrations. Throws `BackupError` if there is no schema. */
export async function readSnapshot<T>(url: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client = openSingleConnection(await findPrimary(url), {
    connect_timeout: 10,
    connection: { application_name: 'carillon backup' },
  });
  try {
    const known = await findTables(client);
    return (await client.begin('isolation level repeatable read read only', async (tx) => {
      await setLocally(tx, SETTINGS);
      // An older snapshot sees a table empty after a migration has rewritten it, so each waits for the other.
      if (known.length > 0) {
        await tx.unsafe(
          `lock table ${known.map(({ name }) => `public.${quoted(name)}`).join(', ')} in access share mode`,
        );
      }
      const migration = await findNewestApplied(tx);
      if (!migration) throw new BackupError('noTables');
      const tables = await findTables(tx);
      const names = (list: readonly BackupTable[]) => list.map((table) => `${table.name} ${table.columns}`).join();
      if (names(tables) !== names(known)) throw new BackupError('migrated');
      return work({
        migration,
        tables,
        partitions: await findPartitions(tx),
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
  const { name, columns, isPartitioned } = table;
  const rows = isPartitioned
    ? `(select ${columns.map(quoted).join(', ')} from public.${quoted(name)})`
    : copyTarget(table);
  const query = tx.unsafe(`copy ${rows} to stdout`);
  const stream: Readable = await query.readable();
  try {
    yield* stream.iterator({ destroyOnReturn: false });
  } finally {
    // The driver pauses its socket while the stream is full. If the data ends meanwhile it never resumes, and the answer to
    // the next statement would not be read.
    stream._read(0);
    if (!stream.readableEnded) {
      query.cancel();
      stream.resume();
      await finished(stream).catch(() => {});
    }
  }
}

async function* uploadKeys(tx: postgres.TransactionSql): AsyncGenerator<string[]> {
  const query = tx<{ key: string }[]>`select storage_key as key from public.uploads where storage = 'blob'`;
  for await (const found of query.cursor(KEYS_PER_BATCH)) yield found.map(({ key }) => key);
}

async function readSequences(tx: postgres.TransactionSql): Promise<Record<string, string>> {
  const found = await tx<{ name: string; last: string }[]>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = 'public' and last_value is not null`;
  return Object.fromEntries(found.map(({ name, last }) => [name, last]));
}
