import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { BATCH_SIZE } from '../batch.ts';

/** Moves runs to the history that a process of an older version has ended, which leaves them among the live ones. */
export async function archiveEnded({ db, worker }: Context): Promise<void> {
  let isLast = false;
  while (!isLast && !worker.stopping.aborted) {
    const { length } = await queryRows(
      db,
      sql`
      update executions e set archived = true where not e.archived and e.id = any(array(
        select id from executions_live where status in ('completed', 'failed')
        order by id limit ${BATCH_SIZE} for update skip locked))
      returning 1`,
    );
    isLast = length < BATCH_SIZE;
  }
}
