import type { WebActionInput } from '@carillon/contract/actions/web/index';
import { TASK_PAGE_SIZE } from '@carillon/contract/actions/web/task-list';
import { parseId } from '@carillon/contract/validation/formats';
import { type executions, nextRunOrder, queryRows, type tasks } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { containsPattern, encodeCursor, parseCursorInstant, unknownCursor } from '../../platform/queries/pages.ts';
import { isWatched, selectLatestRuns } from '../../platform/queries/runs.ts';
import { type RecentCost, type RunOutcome, selectPlannedRuns, selectRecentCost } from './planned-runs.ts';

type ListQuery = WebActionInput<'getTaskList'>;

/** A page with a filter looks at this many tasks, so that a rare word takes no longer the more tasks there are. */
const MAX_SCANNED = 5000;

interface Sort {
  /** Each has an index. */
  key: SQL;
  direction: SQL;
  type: SQL;
  /** Throws 400 for a text that is not a key. */
  check(key: string): void;
}

const NEXT_RUN = { status: sql`status`, recurrence: sql`recurrence`, nextExecutionAt: sql`next_execution_at` };

const SORTS: Record<ListQuery['sort'], Sort> = {
  next: {
    key: nextRunOrder(NEXT_RUN),
    direction: sql`asc`,
    type: sql`timestamptz`,
    check: (key) => {
      if (key !== 'infinity' && key !== '-infinity') parseCursorInstant(key);
    },
  },
  name: { key: sql`lower(name)`, direction: sql`asc`, type: sql`text`, check: () => {} },
  newest: {
    key: sql`id`,
    direction: sql`desc`,
    type: sql`int`,
    check: (key) => {
      if (parseId(key) === null) throw unknownCursor();
    },
  },
};

/** It was stopped, its last runs have failed, or a run is overdue. */
const needsAttentionSql = sql`(consecutive_failures > 0 or status = 'active' and alerting_since is not null)`;

interface Position {
  id: number;
  key: string;
}

/** Throws 400 for a cursor that this list has not issued. */
function readCursor(cursor: string | undefined, { check }: Sort): Position | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [idText = '', ...rest] = text.split(' ');
  const id = parseId(idText);
  if (id === null || encodeCursor(text) !== cursor || text.includes('\0')) throw unknownCursor();
  const key = rest.join(' ');
  check(key);
  return { id, key };
}

type TaskRow = typeof tasks.$inferSelect;
type ExecutionRow = typeof executions.$inferSelect;

interface ListedTask
  extends Pick<TaskRow, 'id' | 'name' | 'status' | 'recurrence' | 'recurrencePattern' | 'interval' | 'timezone'> {
  key: string;
  needsAttention: boolean;
  scheduledFor: string;
  nextExecutionAt: string | null;
  /** Of the last 30 planned runs, oldest first. */
  fates: RunOutcome[];
  lastPlanned: { plannedFor: string; fate: RunOutcome } | null;
  lastRun: LastRun | null;
  cost: RecentCost;
}

interface LastRun extends Pick<ExecutionRow, 'id' | 'status' | 'attempt' | 'errorCode'> {
  plannedFor: string | null;
  at: string;
  isChanged: boolean;
}

interface Found {
  /** Of all tasks, whatever the filter. */
  total: number;
  scanned: number;
  matched: number;
  lastScanned: Position | null;
  tasks: ListedTask[] | null;
  /** The pause until one instant that most active tasks have. */
  pause: { until: string; tasks: number } | null;
}

/**
 * A page of the caller's tasks in one statement, with the outcomes of their last runs. `isUnfinished` if the search stopped
 * before the end, and continues at `nextCursor`.
 */
export async function listTasksWithRuns(ctx: Context, caller: Caller, query: ListQuery) {
  const { tasks, total, scanned, matched, lastScanned, pause } = await findTasks(ctx, caller, query);
  const hasMore = matched > TASK_PAGE_SIZE;
  const isUnfinished = !hasMore && isFiltered(query) && scanned === MAX_SCANNED;
  const last = hasMore ? tasks?.at(-1) : isUnfinished ? lastScanned : null;
  return {
    tasks: tasks ?? [],
    total,
    pause,
    nextCursor: last ? encodeCursor(`${last.id} ${last.key}`) : null,
    isUnfinished,
  };
}

/** Of an instant, which may be infinite. */
const toKeyText = (key: SQL) => sql`case when isfinite(${key})
  then to_char(${key} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else ${key}::text end`;

const isFiltered = ({ search, status, needsAttention }: ListQuery) => Boolean(search || status || needsAttention);

async function findTasks(ctx: Context, caller: Caller, query: ListQuery): Promise<Found> {
  const { search, status, needsAttention } = query;
  const sort = SORTS[query.sort];
  const after = readCursor(query.cursor, sort);
  const compare = query.sort === 'newest' ? sql`<` : sql`>`;
  const isAfter = after ? sql`and (${sort.key}, id) ${compare} (${after.key}::${sort.type}, ${after.id}::int)` : sql``;
  const order = sql`${sort.key} ${sort.direction}, id ${sort.direction}`;
  const filter = sql`where ${search ? sql`s.name ilike ${containsPattern(search)}` : sql`true`} and ${
    status ? sql`s.status = ${status}` : sql`true`
  } and ${needsAttention ? sql`s.needs_attention` : sql`true`}`;
  const limit = isFiltered(query) ? MAX_SCANNED : TASK_PAGE_SIZE + 1;
  const id = sql`p.id`;
  const [found] = await queryRows<Found>(
    ctx.db,
    sql`
    with scanned as (
      select id, name, status, row_number() over (order by ${order}) as position,
        needs_attention, ${query.sort === 'next' ? toKeyText(sort.key) : sql`${sort.key}::text`} as key
      from (select *, ${needsAttentionSql} as needs_attention from tasks) t where user_id = ${caller.id} ${isAfter} order by ${order} limit ${limit}
    ), matched as (
      select s.id, s.key, s.position, s.needs_attention from scanned s ${filter} order by s.position limit ${TASK_PAGE_SIZE + 1}
    )
    select (select task_count from users where id = ${caller.id}) as total,
      (
        select json_build_object('until', paused_until, 'tasks', count(*)) from tasks
        where user_id = ${caller.id} and status = 'active' and paused_until > ${ctx.now().toISOString()}::timestamptz
        group by paused_until order by count(*) desc, paused_until limit 1
      ) as pause,
      (select count(*)::int from scanned) as scanned,
      (select count(*)::int from matched) as matched,
      (select json_build_object('id', id, 'key', key) from scanned order by position desc limit 1) as last_scanned,
      (
        select json_agg(json_build_object('id', t.id, 'name', t.name, 'status', t.status, 'key', p.key, 'needsAttention', p.needs_attention,
          'scheduledFor', t.scheduled_for, 'recurrence', t.recurrence, 'recurrencePattern', t.recurrence_pattern, 'interval', t.interval,
          'timezone', t.timezone, 'nextExecutionAt', t.next_execution_at, 'fates', f.fates, 'lastPlanned', f.last,
          'lastRun', l.run, 'cost', c.cost) order by p.position)
        from (select * from matched order by position limit ${TASK_PAGE_SIZE}) p
        join tasks t on t.id = p.id
        cross join lateral (
          select coalesce(array_agg(fate order by planned_for), '{}') as fates,
            (array_agg(json_build_object('plannedFor', planned_for, 'fate', fate) order by planned_for desc))[1] as last
          from (${selectPlannedRuns(id)}) r
        ) f
        left join lateral (
          select json_build_object('id', id, 'status', status, 'attempt', attempt, 'errorCode', error_code,
            'isChanged', changed is true and ${isWatched('t')}, 'plannedFor', planned_for, 'at', coalesce(completed_at, started_at, created_at)) as run
          from (${selectLatestRuns(id, 1)}) e
        ) l on true
        cross join lateral (${selectRecentCost(id, ctx.now())}) c
      ) as tasks`,
  );
  return found as Found;
}

const MAX_NAMED = 8;

/** The first by name among the newest tasks whose name contains the text. */
export async function findTasksByName(ctx: Context, caller: Caller, text: string) {
  const tasks = await queryRows<Pick<TaskRow, 'id' | 'name' | 'status'>>(
    ctx.db,
    sql`
    select id, name, status from (
      select * from tasks where user_id = ${caller.id} order by id desc limit ${MAX_SCANNED}
    ) t where name ilike ${containsPattern(text)} order by lower(name), id limit ${MAX_NAMED}`,
  );
  return { tasks };
}

/** The tasks of `ids` that the caller owns. */
export async function getTaskNames(ctx: Context, caller: Caller, { ids }: WebActionInput<'getTaskNames'>) {
  const tasks = await queryRows<{ id: number; name: string; executionCount: number }>(
    ctx.db,
    sql`select id, name, execution_count from tasks
      where user_id = ${caller.id} and id = any(${`{${ids.join(',')}}`}::int[]) order by lower(name), id`,
  );
  return { tasks };
}
