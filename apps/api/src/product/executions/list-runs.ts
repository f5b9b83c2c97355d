import type { WebActionInput } from '@carillon/contract/actions/web/index';
import type { Fate } from '@carillon/contract/occurrences';
import { type executions, queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';
import { decodeIdCursor, encodeCursor } from '../../platform/queries/pages.ts';
import { hasPlannedTrigger } from '../../platform/queries/planned-trigger.ts';
import { isWatched } from '../../platform/queries/watched-tasks.ts';
import { startOfDay } from '../schedule/time-zone.ts';

/** So many runs are searched for a filter at once: no index has their states, and a user may have millions. */
const MAX_SEARCHED = 5000;
/** Of an answer, for its first line. */
const MAX_ANSWER_START = 400;
/** Ids grow with time, except for transactions that overlap. */
const OVERLAP_MS = 60_000;

type ExecutionRow = typeof executions.$inferSelect;

interface RunRow
  extends Pick<
    ExecutionRow,
    'id' | 'taskId' | 'status' | 'trigger' | 'attempt' | 'errorCode' | 'error' | 'processingTimeMs' | 'costUsd'
  > {
  taskName: string;
  fate: Fate | null;
  plannedFor: string | null;
  createdAt: string;
  answerStart: string | null;
  /** Whether a later run repeats it. */
  isRetried: boolean;
  isChanged: boolean;
  /** How many pages the answer cites. */
  sources: number;
}

interface Found {
  runs: RunRow[];
  taskName: string | null;
  searched: number;
  lastSearched: number | null;
}

/**
 * Newest first, in one statement that reads a bounded number of rows. Days are those of the caller's time zone.
 * `isPartial` if only the newest runs were searched for a filter: the cursor leads to the older ones.
 */
export async function listRuns(ctx: Context, caller: Caller, input: WebActionInput<'listRuns'>) {
  const { taskId = null, status, limit } = input;
  const before = decodeIdCursor(input.cursor);
  const zone = caller.timezone ?? 'UTC';
  const from = input.from === undefined ? null : readDay('from', input.from, zone, 0);
  const until = input.to === undefined ? null : readDay('to', input.to, zone, 1);
  const isSearch = status !== undefined || from !== null || until !== null;
  const [found] = await queryRows<Found>(
    ctx.db,
    sql`
    with recursive ${from ? sql`first as (${firstIdSince(caller.id, from, -OVERLAP_MS)}),` : sql``}
    ${until ? sql`beyond as (${firstIdSince(caller.id, until, OVERLAP_MS)}),` : sql``}
    searched as materialized (
      select e.id, e.status, e.created_at from executions e
      where e.user_id = ${caller.id} ${taskId === null ? sql`` : sql`and e.task_id = ${taskId}`}
        ${before === null ? sql`` : sql`and e.id < ${before}`}
        ${from ? sql`and e.id >= (select id from first)` : sql``} ${until ? sql`and e.id < (select id from beyond)` : sql``}
      order by e.id desc limit ${isSearch ? MAX_SEARCHED : limit + 1}
    ), page as (
      select s.id from searched s
      where true ${status === undefined ? sql`` : sql`and s.status = ${status}`}
        ${from ? sql`and s.created_at >= ${from.toISOString()}::timestamptz` : sql``}
        ${until ? sql`and s.created_at < ${until.toISOString()}::timestamptz` : sql``}
      order by s.id desc limit ${limit + 1}
    ), shown as (
      select e.id, e.task_id as "taskId", t.name as "taskName", e.status, e.trigger, o.fate,
        e.planned_for as "plannedFor", e.created_at as "createdAt", e.attempt, e.error_code as "errorCode", e.error,
        left(e.result, ${MAX_ANSWER_START}) as "answerStart", e.processing_time_ms as "processingTimeMs",
        e.cost_usd as "costUsd", exists (select from executions r where r.retry_of_id = e.id and r.id > e.id) as "isRetried",
        e.changed is true and ${isWatched('t')} as "isChanged", coalesce(json_array_length(e.citations), 0) as sources
      from page join executions e using (id) join tasks t on t.id = e.task_id
        left join occurrences o on o.task_id = e.task_id and o.planned_for = e.planned_for and ${hasPlannedTrigger('e')}
    )
    select (select coalesce(jsonb_agg(to_jsonb(shown) order by id desc), '[]') from shown) as runs,
      (select name from tasks where id = ${taskId}::int and user_id = ${caller.id}) as task_name,
      (select count(*)::int from searched) as searched, (select min(id) from searched) as last_searched`,
  );
  const { runs, taskName, searched, lastSearched } = found as Found;
  const page = runs.slice(0, limit);
  const isPartial = runs.length <= limit && isSearch && searched === MAX_SEARCHED;
  const last = runs.length > limit ? (page.at(-1)?.id ?? null) : isPartial ? lastSearched : null;
  return {
    runs: page.map(({ plannedFor, createdAt, ...run }) => ({
      ...run,
      plannedFor: toInstantOrNull(plannedFor),
      createdAt: toInstant(createdAt),
    })),
    taskName,
    nextCursor: last === null ? null : encodeCursor(last),
    isPartial,
  };
}

function readDay(field: 'from' | 'to', day: string, zone: string, daysLater: number): Date {
  const at = startOfDay(zone, day, daysLater);
  // PostgreSQL reads neither years before Christ nor those of five digits.
  if (at === null || at.getUTCFullYear() < 1 || at.getUTCFullYear() > 9998)
    throw invalidField(field, 'must be a day, such as 2026-11-20');
  return at;
}

/**
 * Finds by bisection, in 32 reads of one index entry, the first id of the user's runs that was made at `at` or later: there
 * is no index by time.
 */
const firstIdSince = (userId: number, at: Date, shiftMs: number): SQL => sql`
  select max(low) as id from (
    with recursive search(low, high, round) as (
      select 1::bigint, 2147483648::bigint, 0
      union all
      select case when found.id is not null and found.created_at < ${new Date(at.getTime() + shiftMs).toISOString()}::timestamptz
          then found.id + 1 else low end,
        case when found.id is not null and found.created_at < ${new Date(at.getTime() + shiftMs).toISOString()}::timestamptz
          then high else (low + high) / 2 end, round + 1
      from search left join lateral (
        select e.id, e.created_at from executions e
        where e.user_id = ${userId} and e.id >= (low + high) / 2 and e.id < high order by e.id limit 1
      ) found on true
      where low < high and round < 40
    )
    select low from search
  ) searched`;
