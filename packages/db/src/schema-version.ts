import { sql } from 'drizzle-orm';
import journal from '../migrations/meta/_journal.json' with { type: 'json' };
import type { Db } from './client.ts';
import { databaseErrorCode, SQLSTATE } from './errors.ts';
import { queryRows, toInstantOrNull } from './queries.ts';

interface DatabaseState {
  /** Whether the database has all migrations of this version, or those of a later one. */
  isCurrent: boolean;
  /** Whether it rejects every change, as a standby does. */
  isReadOnly: boolean;
  /** When the scheduler last called; null if the schema is too old to tell. */
  schedulerCalledAt: Date | null;
}

/** Throws if the database is unavailable. */
export async function readDatabaseState(db: Db): Promise<DatabaseState> {
  const newest = Math.max(...journal.entries.map(({ when }) => when));
  try {
    const [found] = await queryRows<{ isCurrent: boolean | null; isReadOnly: boolean; calledAt: string | null }>(
      db,
      sql`
      select max(created_at) >= ${newest}::bigint as is_current,
        current_setting('transaction_read_only')::bool as is_read_only,
        (select last_called_at from scheduler_state) as called_at
      from drizzle.__drizzle_migrations`,
    );
    const { isCurrent, isReadOnly = false, calledAt = null } = found ?? {};
    return { isCurrent: isCurrent ?? false, isReadOnly, schedulerCalledAt: toInstantOrNull(calledAt) };
  } catch (error) {
    if (databaseErrorCode(error) === SQLSTATE.undefinedTable)
      return { isCurrent: false, isReadOnly: false, schedulerCalledAt: null };
    throw error;
  }
}
