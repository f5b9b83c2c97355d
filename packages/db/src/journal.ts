import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type postgres from 'postgres';

export const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

/** A migration. The database stores `when`, which also defines the order. */
export interface Migration {
  tag: string;
  when: number;
}

interface Journal {
  version: string;
  dialect: string;
  entries: Migration[];
}

export const readJournal = (): Journal => JSON.parse(readFileSync(`${MIGRATIONS}/meta/_journal.json`, 'utf8'));

/** The schema is from before the first migration, which cannot be applied to it. */
export class SchemaTooOldError extends Error {
  constructor() {
    super(
      'The database is from before 0000_initial: run the script in docs/operating/upgrade.md#from-before-the-first-release once.',
    );
  }
}

/** Whether a migration, such as the newest of a database, is from before the first one of this version. */
export const isBeforeFirst = ({ when }: Pick<Migration, 'when'>): boolean =>
  when < (readJournal().entries[0]?.when ?? 0);

/** The newest migration that was applied, or null. One of a later version, unknown to this one, has an empty tag. */
export async function findNewestApplied(sql: postgres.ISql): Promise<Migration | null> {
  const [{ exists } = {}] = await sql`select to_regclass('drizzle.__drizzle_migrations') is not null as exists`;
  if (!exists) return null;
  const [row] = await sql`select max(created_at)::text as newest from drizzle.__drizzle_migrations`;
  if (!row?.newest) return null;
  const when = Number(row.newest);
  return readJournal().entries.find((entry) => entry.when === when) ?? { tag: '', when };
}
