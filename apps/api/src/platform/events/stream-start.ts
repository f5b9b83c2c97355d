import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import type { StreamStart } from './live-stream.ts';

interface Log {
  /** 0 if there was no event yet. */
  lastId: string;
  /** Null if no event is stored. */
  beforeOldest: string | null;
}

/**
 * A stream begins after the event `after`; now, if that is null or no id of this user; or before the oldest event that is
 * stored, if the event itself no longer is.
 */
export async function findStreamStart(
  ctx: Context,
  { id: userId }: Pick<Caller, 'id'>,
  after: number | null,
): Promise<StreamStart> {
  const [row] = await queryRows<Log>(
    ctx.db,
    sql`
    select coalesce((select last_id from event_positions where user_id = ${userId}), 0) as last_id,
      (select id - cardinality(kinds) from events where user_id = ${userId} order by id limit 1) as before_oldest`,
  );
  const log = row as Log;
  const lastId = Number(log.lastId);
  const beforeOldest = Number(log.beforeOldest ?? lastId);
  if (after === null || after > lastId) return { after: lastId, isReset: false };
  // 0 is before the first event, and no event itself.
  if (after > beforeOldest || (after === 0 && beforeOldest === 0)) return { after, isReset: false };
  return { after: beforeOldest, isReset: true };
}
