import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { MIGRATIONS } from './journal.ts';
import { openPostgres } from './open-postgres.ts';

/** Migrates the database at `url` to the newest schema. Of replicas that start together one migrates, the others wait. */
export async function migrateDatabase(url: string): Promise<void> {
  const client = openPostgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    // The lock belongs to the connection, so a killed migration releases it.
    await client`select pg_advisory_lock(${ADVISORY_LOCKS.migrate})`;
    await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
  } finally {
    await client.end({ timeout: 5 });
  }
}
