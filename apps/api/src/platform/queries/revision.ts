import { inArray, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { preconditionFailed } from '../../errors.ts';

/** The revisions that a change may start from; null for any. */
export type ExpectedRevisions = readonly number[] | null;

/** For a row that is locked. Throws 412. */
export function assertRevision({ revision }: { revision: number }, expected: ExpectedRevisions): void {
  if (expected !== null && !expected.includes(revision)) throw preconditionFailed();
}

/** The same as a condition of the statement that changes the row. */
export const hasRevision = (column: PgColumn, expected: ExpectedRevisions): SQL | undefined =>
  expected === null ? undefined : inArray(column, [...expected]);
