import { sql } from 'drizzle-orm';
import journal from '../migrations/meta/_journal.json' with { type: 'json' };
import type { Db } from './client.ts';
import { databaseErrorCode, SQLSTATE } from './errors.ts';
import { queryRows } from './query-rows.ts';

/** Whether the database has all migrations of this version, or those of a later one. Throws if it is unavailable. */
export async function isSchemaCurrent(db: Db): Promise<boolean> {
  const newest = Math.max(...journal.entries.map(({ when }) => when));
  try {
    const [found] = await queryRows<{ current: boolean | null }>(
      db,
      sql`select max(created_at) >= ${newest}::bigint as current from drizzle.__drizzle_migrations`,
    );
    return found?.current ?? false;
  } catch (error) {
    if (databaseErrorCode(error) === SQLSTATE.undefinedTable) return false;
    throw error;
  }
}
