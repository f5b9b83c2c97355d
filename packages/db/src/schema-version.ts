import { sql } from 'drizzle-orm';
import journal from '../migrations/meta/_journal.json' with { type: 'json' };
import type { Db } from './client.ts';
import { databaseErrorCode, SQLSTATE } from './errors.ts';
import { queryRows } from './query-rows.ts';

export interface DatabaseState {
  /** Whether the database has all migrations of this version, or those of a later one. */
  isCurrent: boolean;
  /** Whether it rejects every change, as a standby does. */
  isReadOnly: boolean;
}

/** Throws if the database is unavailable. */
export async function readDatabaseState(db: Db): Promise<DatabaseState> {
  const newest = Math.max(...journal.entries.map(({ when }) => when));
  try {
    const [found] = await queryRows<{ isCurrent: boolean | null; isReadOnly: boolean }>(
      db,
      sql`
      select max(created_at) >= ${newest}::bigint as is_current,
        current_setting('transaction_read_only')::bool as is_read_only
      from drizzle.__drizzle_migrations`,
    );
    return { isCurrent: found?.isCurrent ?? false, isReadOnly: found?.isReadOnly ?? false };
  } catch (error) {
    if (databaseErrorCode(error) === SQLSTATE.undefinedTable) return { isCurrent: false, isReadOnly: false };
    throw error;
  }
}
