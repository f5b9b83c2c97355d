import type { ListEventsQuery, LoggedEvent } from '@carillon/contract/events';
import { EVENT_KINDS, type EventData, type EventKind } from '@carillon/contract/webhooks/events';
import { queryRows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { invalidField } from '../errors.ts';

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

export interface EventRow {
  /** 64 bits, as text. */
  id: string;
  event: EventKind;
  createdAt: string;
  /** JSON. */
  data: string;
}

/** Oldest first. Throws 400 for an unknown kind. */
export async function listEvents(ctx: Context, caller: Pick<Caller, 'id'>, query: ListEventsQuery) {
  const { after, limit } = query;
  const { kinds, taskId } = parseFilter(query);
  const found = await queryRows<EventRow>(
    ctx.db,
    sql`
    select id, event, created_at, data from events
    where user_id = ${caller.id} and id > ${after ?? '0'}::bigint
      ${kinds ? sql`and event = any(${`{${kinds.join(',')}}`}::text[])` : sql``}
      ${taskId === null ? sql`` : sql`and task_id = ${taskId}`}
    order by id limit ${limit + 1}`,
  );
  const rows = found.slice(0, limit);
  const nextAfter = rows.at(-1)?.id ?? after ?? null;
  return { events: rows.map(toEvent), pagination: { limit, hasMore: found.length > limit, nextAfter } };
}

const toEvent = ({ id, event, createdAt, data }: EventRow): LoggedEvent => ({
  id,
  event,
  timestamp: toInstant(createdAt),
  data: JSON.parse(data) as EventData,
});
