import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

interface Stored {
  bytes: number;
  files: number;
}

/** A user's total of uploads that is not what it should be. */
export interface WrongTotal {
  userId: number;
  counted: Stored;
  /** What the uploads add up to. */
  due: Stored;
}

/**
 * Adds up anew what every user has uploaded and returns the totals, which the storage quota goes by, that say otherwise:
 * none, whatever has just died. One statement, so it may be asked while the service works.
 */
export async function findWrongTotals(db: Db): Promise<WrongTotal[]> {
  const found = await queryRows<WrongTotal>(
    db,
    sql`
    with due as (select user_id, sum(size) as bytes, count(*) as files from uploads group by user_id),
    compared as (
      select user_id,
        jsonb_build_object('bytes', coalesce(t.bytes, 0), 'files', coalesce(t.files, 0)) as counted,
        jsonb_build_object('bytes', coalesce(due.bytes, 0), 'files', coalesce(due.files, 0)) as due
      from upload_totals t full join due using (user_id)
    )
    select user_id as "userId", counted, due from compared where counted <> due order by user_id`,
  );
  return [...found];
}
