import type { ListEventsQuery, LoggedEvent } from '@carillon/contract/events';
import { EVENT_KINDS, type EventData, type EventKind } from '@carillon/contract/webhooks/events';
import { queryRows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';

/** Of a page with a filter. */
const MAX_ROWS_READ = 10_000;

/** Null fields admit every event. */
export interface EventFilter {
  kinds: readonly EventKind[] | null;
  taskId: number | null;
}

/** Throws 400 for an unknown kind. */
export function parseFilter(query: Pick<ListEventsQuery, 'kinds' | 'taskId'>): EventFilter {
  const { kinds } = query;
  const taskId = query.taskId ?? null;
  if (kinds === undefined) return { kinds: null, taskId };
  const names = kinds.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !EVENT_KINDS.includes(name as EventKind));
  if (unknown !== undefined)
    throw invalidField('kinds', `must be names of events, separated by commas; there is no event "${unknown}"`);
  return { kinds: names as EventKind[], taskId };
}

/** Events with the same data. */
export interface EventRow {
  /** Of the last one: 64 bits, as text. */
  id: string;
  kinds: EventKind[];
  createdAt: string;
  /** JSON. */
  data: string;
}

/** The events of a row that come after the event `after`. */
export function splitRow({ id, kinds }: EventRow, after: number): { id: number; kind: EventKind }[] {
  const beforeFirst = Number(id) - kinds.length;
  return kinds.map((kind, n) => ({ id: beforeFirst + 1 + n, kind })).filter((event) => event.id > after);
}

/** Oldest first. Throws 400 for an unknown kind. */
export async function listEvents(ctx: Context, { id: userId }: Pick<Caller, 'id'>, query: ListEventsQuery) {
  const { limit } = query;
  const after = Number(query.after ?? 0);
  const { kinds, taskId } = parseFilter(query);
  const isFiltered = kinds !== null || taskId !== null;
  const readEnd = isFiltered ? await findReadEnd(ctx, userId, after) : null;
  // One more tells that there are more. The first one may have none of the kinds after `after`.
  const rows = await queryRows<EventRow>(
    ctx.db,
    sql`
    select id, kinds, created_at, data from events
    where user_id = ${userId} and id > ${after}::bigint
      ${readEnd === null ? sql`` : sql`and id <= ${readEnd}::bigint`}
      ${kinds ? sql`and kinds && ${`{${kinds.join(',')}}`}::text[]` : sql``}
      ${taskId === null ? sql`` : sql`and task_id = ${taskId}`}
    order by id limit ${limit + 2}`,
  );
  const found = rows.flatMap((row) => toEvents(row, after)).filter(({ event }) => !kinds || kinds.includes(event));
  const events = found.slice(0, limit);
  const isCut = found.length > limit;
  const nextAfter = (isCut ? null : readEnd) ?? events.at(-1)?.id ?? query.after ?? null;
  return { events, pagination: { limit, hasMore: isCut || readEnd !== null, nextAfter } };
}

/** The last event that a page with a filter reads, so that a rare kind in a long log costs no more; null if all are read. */
async function findReadEnd({ db }: Context, userId: number, after: number): Promise<string | null> {
  const [next] = await queryRows<{ before: string }>(
    db,
    sql`
    select id - cardinality(kinds) as before from events where user_id = ${userId} and id > ${after}::bigint
    order by id offset ${MAX_ROWS_READ} limit 1`,
  );
  return next?.before ?? null;
}

function toEvents(row: EventRow, after: number): LoggedEvent[] {
  const timestamp = toInstant(row.createdAt);
  const data = JSON.parse(row.data) as EventData;
  return splitRow(row, after).map(({ id, kind }) => ({ id: String(id), event: kind, timestamp, data }));
}
