import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { findPrimary } from './find-primary.ts';
import { findNewestApplied, MIGRATIONS, readJournal } from './journal.ts';
import { openPostgres } from './open-postgres.ts';
import { assertStatementsKept } from './pool/pooler.ts';

export interface Migrated {
  /** The version of PostgreSQL. */
  serverVersion: string;
  /** The number of migrations applied by this call. */
  applied: number;
  /** The tag of the newest migration of the database; empty for one of a later version. */
  newest: string;
}

/**
 * Migrates the database to the newest schema. Of replicas that start together one migrates, the others wait.
 * Throws a `PoolerError`.
 */
export async function migrateDatabase(databaseUrl: string): Promise<Migrated> {
  const url = await findPrimary(databaseUrl);
  await assertStatementsKept(url);
  const client = openPostgres(url, { max: 1, onnotice: () => {}, connect_timeout: 5 });
  try {
    // The lock belongs to the connection, so a killed migration releases it.
    const [server] = await client`
      select current_setting('server_version') as version, pg_advisory_lock(${ADVISORY_LOCKS.migrate})`;
    const before = await findNewestApplied(client);
    await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
    const after = await findNewestApplied(client);
    const applied = readJournal().entries.filter(
      ({ when }) => when > (before?.when ?? 0) && when <= (after?.when ?? 0),
    );
    return { serverVersion: server?.version ?? '', applied: applied.length, newest: after?.tag ?? '' };
  } finally {
    await client.end({ timeout: 5 });
  }
}
