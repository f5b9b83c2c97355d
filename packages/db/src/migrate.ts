import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import postgres from 'postgres';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { MIGRATIONS } from './journal.ts';

/**
 * Brings the database at `url` to the newest schema. Replicas may start together: one of them migrates under an
 * advisory lock while the others wait for it, and then find nothing left to do.
 */
export async function migrateDatabase(url: string): Promise<void> {
  const client = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    // The lock lives as long as this one connection, so a migration that dies releases it.
    await client`select pg_advisory_lock(${ADVISORY_LOCKS.migrate})`;
    await migrate(drizzle(client), { migrationsFolder: MIGRATIONS });
  } finally {
    await client.end({ timeout: 5 });
  }
}
