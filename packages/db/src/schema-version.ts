import { sql } from 'drizzle-orm';
import journal from '../migrations/meta/_journal.json' with { type: 'json' };
import type { Db } from './client.ts';
import { rows } from './rows.ts';

/** SQLSTATE of a table that is not there: nobody has migrated the database. */
const UNDEFINED_TABLE = '42P01';

/**
 * Whether the database has the newest migration that this version of the code knows. One that a newer version has
 * migrated counts as well: it still serves the old one. Throws when the database is away.
 */
export async function isSchemaCurrent(db: Db): Promise<boolean> {
  const newest = Math.max(...journal.entries.map(({ when }) => when));
  try {
    const [found] = await rows<{ current: boolean | null }>(
      db,
      sql`select max(created_at) >= ${newest}::bigint as current from drizzle.__drizzle_migrations`,
    );
    return found?.current ?? false;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    if (cause?.code === UNDEFINED_TABLE) return false;
    throw error;
  }
}
