import { queryRows, recordset, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { type EventRow, splitRow } from './read.ts';

/** Of one user at once, so that one statement returns some megabytes at most. At least one row is read. */
const MAX_ROWS = 500;
const MAX_BYTES = 128 * 1024;
const MAX_CURSORS = 50;

/** What comes after the event `after` of a user. */
export interface Cursor {
  userId: number;
  after: number;
}

interface NewEvent {
  id: number;
  kind: EventRow['kinds'][number];
  taskId: number | null;
  /** In the form of `text/event-stream`. */
  frame: Buffer;
}

export interface NewEvents {
  cursor: Cursor;
  events: NewEvent[];
  /** The latest event of the user when they were read. */
  lastId: number;
}

/** Calls `onEvents` for each cursor with new events, as the log has them: in order, without a gap. */
export async function readNewEvents(
  ctx: Context,
  cursors: readonly Cursor[],
  onEvents: (found: NewEvents) => void,
): Promise<void> {
  const behind = await queryRows<{ userId: number; after: string; lastId: string }>(
    ctx.db,
    sql`
    select c.user_id, c.after, p.last_id
    from ${recordset('c', cursors, { userId: 'int', after: 'bigint' })} join event_positions p using (user_id)
    where p.last_id > c.after`,
  );
  for (let at = 0; at < behind.length; at += MAX_CURSORS) {
    const page = behind.slice(at, at + MAX_CURSORS);
    const rowsByCursor = Map.groupBy(await readRows(ctx, page), (row) => row.n);
    page.forEach(({ userId, after, lastId }, n) => {
      const events = (rowsByCursor.get(n) ?? []).flatMap((row) => toNewEvents(row, Number(after)));
      onEvents({ cursor: { userId, after: Number(after) }, events, lastId: Number(lastId) });
    });
  }
}

type Row = EventRow & { n: number; taskId: number | null };

const readRows = ({ db }: Context, cursors: readonly { userId: number; after: string }[]) =>
  queryRows<Row>(
    db,
    sql`
    select c.n, found.* from ${recordset(
      'c',
      cursors.map((cursor, n) => ({ ...cursor, n })),
      { n: 'int', userId: 'int', after: 'bigint' },
    )}
    cross join lateral (
      select id, kinds, task_id, created_at, data from (
        select *, sum(bytes) over (order by id) - bytes as bytes_before from (
          select *, octet_length(data) * cardinality(kinds) as bytes from events e where e.user_id = c.user_id and e.id > c.after order by id limit ${MAX_ROWS}
        ) next
      ) sized
      where bytes_before < ${MAX_BYTES}
    ) found
    order by c.n, found.id`,
  );

function toNewEvents(row: Row, after: number): NewEvent[] {
  const { taskId, data } = row;
  const timestamp = toInstant(row.createdAt).toISOString();
  return splitRow(row, after).map(({ id, kind }) => {
    const json = `{"id":"${id}","event":"${kind}","timestamp":"${timestamp}","data":${data}}`;
    return { id, kind, taskId, frame: Buffer.from(`id: ${id}\nevent: ${kind}\ndata: ${json}\n\n`) };
  });
}
