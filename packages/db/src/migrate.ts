import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import type postgres from 'postgres';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { findPrimary } from './find-primary.ts';
import { findNewestApplied, isBeforeFirst, MIGRATIONS, readJournal, SchemaTooOldError } from './journal.ts';
import { openSingleConnection } from './open-postgres.ts';
import { setLocally } from './set-locally.ts';

/** The role may have others, for the statements of requests. */
const NO_TIMEOUTS = { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' };

export interface Migrated {
  /** The version of PostgreSQL. */
  serverVersion: string;
  /** The number of migrations applied by this call. */
  applied: number;
  /** The tag of the newest migration of the database; empty for one of a later version. */
  newest: string;
}

/**
 * Migrates the database to the newest schema in one transaction, which any pooler keeps together. Of replicas that start
 * together one migrates, the others wait. Throws `SchemaTooOldError`.
 */
export async function migrateDatabase(databaseUrl: string): Promise<Migrated> {
  const client = openSingleConnection(await findPrimary(databaseUrl));
  try {
    return await client.begin(async (tx) => {
      await setLocally(tx, NO_TIMEOUTS);
      const [server] = await tx`
        select current_setting('server_version') as version, pg_advisory_xact_lock(${ADVISORY_LOCKS.migrate})`;
      const before = await findNewestApplied(tx);
      if (before && isBeforeFirst(before)) throw new SchemaTooOldError();
      await migrateWithin(client, tx, MIGRATIONS);
      const after = await findNewestApplied(tx);
      const applied = readJournal().entries.filter(
        ({ when }) => when > (before?.when ?? 0) && when <= (after?.when ?? 0),
      );
      return { serverVersion: server?.version ?? '', applied: applied.length, newest: after?.tag ?? '' };
    });
  } finally {
    await client.end({ timeout: 5 });
  }
}

/** Applies the migrations of a folder in a transaction of `client`: Drizzle's migrator gets a savepoint. */
export async function migrateWithin(
  { options }: postgres.Sql,
  tx: postgres.TransactionSql,
  migrationsFolder: string,
): Promise<void> {
  const inside = {
    options,
    unsafe: tx.unsafe,
    begin: (work: (sql: postgres.TransactionSql) => Promise<unknown>) => tx.savepoint(work),
  };
  await migrate(drizzle(inside as unknown as postgres.Sql), { migrationsFolder });
}
