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

/** The newest migration that was applied, or null. One of a later version, unknown to this one, has an empty tag. */
export async function findNewestApplied(sql: postgres.ISql): Promise<Migration | null> {
  const [{ exists } = {}] = await sql`select to_regclass('drizzle.__drizzle_migrations') is not null as exists`;
  if (!exists) return null;
  const [row] = await sql`select max(created_at)::text as newest from drizzle.__drizzle_migrations`;
  if (!row?.newest) return null;
  const when = Number(row.newest);
  return readJournal().entries.find((entry) => entry.when === when) ?? { tag: '', when };
}
