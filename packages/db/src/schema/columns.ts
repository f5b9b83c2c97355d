import { sql } from 'drizzle-orm';
import { integer, timestamp } from 'drizzle-orm/pg-core';

export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** `'a', 'b'` for a CHECK constraint. Does not escape: for constants of this folder only. */
export const wordList = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '));

/** Increased by triggers whenever a column that the representation shows changes. */
export const revision = () => integer().notNull().default(1);
