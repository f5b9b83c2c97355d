import { sql } from 'drizzle-orm';
import { timestamp } from 'drizzle-orm/pg-core';

/** An instant: stored in UTC with milliseconds, the precision of the specification's date-times. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** `'a', 'b'` for a CHECK; only for the constant word lists of this folder. */
export const wordList = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '));
