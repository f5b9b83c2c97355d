import type { WebActionInput } from '@carillon/contract/actions/web/index';
import type { Fate } from '@carillon/contract/occurrences';
import { executions, occurrences, queryRows, tasks, toInstant, toInstantOrNull, usageRecords } from '@carillon/db';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { executionNotFound, invalidField } from '../../errors.ts';
import { containsPattern, decodeIdCursor, encodeCursor } from '../../platform/queries/pages.ts';
import { hasPlannedTrigger, isUnseen, isWatched } from '../../platform/queries/runs.ts';
import { startOfDay } from '../schedule/time-zone.ts';
import { executionFields, stepFields, toExecution } from './read.ts';
import { earlierSuccess } from './result/last-success.ts';
import { readRunDeliveries } from './run-deliveries.ts';
import { indexRunsOfUser, selectRunsWithWords } from './search.ts';
import { listSteps } from './timeline.ts';

const MAX_ATTEMPTS = 10;
const MAX_RETRIES = 20;
const MAX_NEAR = 2;

type ExecutionRow = typeof executions.$inferSelect;

interface JsonRetry extends Pick<ExecutionRow, 'id' | 'trigger' | 'attempt' | 'status'> {
  runAt: string;
  createdAt: string;
}

interface EarlierAttempt extends Pick<ExecutionRow, 'id' | 'attempt' | 'errorCode' | 'error'> {
  endedAt: string | null;
}

interface NearRun extends Pick<ExecutionRow, 'id' | 'status' | 'attempt' | 'errorCode'> {
  fate: (typeof occurrences.$inferSelect)['fate'] | null;
  /** The planned instant; of a run on demand, when it was asked for. */
  at: string;
  isChanged: boolean;
}

const retriesOfRun = sql<JsonRetry[]>`(select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]') from (
  select x.id, x.trigger, x.attempt, x.status, x.run_at as "runAt", x.created_at as "createdAt" from executions x
  where x.retry_of_id = ${executions.id} and x.id > ${executions.id} order by x.id desc limit ${MAX_RETRIES}) r)`;

/** The runs that it repeats, oldest first. */
const earlierAttempts = sql<EarlierAttempt[]>`(
  with recursive chain as (
    select x.id, x.retry_of_id, x.attempt, x.error_code, x.error, x.completed_at, 1 as depth from executions x
    where x.id = ${executions.retryOfId}
    union all
    select x.id, x.retry_of_id, x.attempt, x.error_code, x.error, x.completed_at, depth + 1
    from chain join executions x on x.id = chain.retry_of_id where depth < ${MAX_ATTEMPTS}
  )
  select coalesce(jsonb_agg(jsonb_build_object('id', id, 'attempt', attempt, 'errorCode', error_code, 'error', error,
    'endedAt', completed_at) order by id), '[]') from chain)`;

const near = (side: 'before' | 'after') => {
  const isBefore = side === 'before';
  return sql<NearRun[]>`(select coalesce(jsonb_agg(to_jsonb(n) order by n.id), '[]') from (
    select x.id, x.status, x.attempt, x.error_code as "errorCode", o.fate, coalesce(x.planned_for, x.created_at) as at,
      x.changed is true and ${isWatched('tasks')} as "isChanged"
    from executions x
    left join occurrences o on o.task_id = x.task_id and o.planned_for = x.planned_for and ${hasPlannedTrigger('x')}
    where x.task_id = ${executions.taskId} and x.id ${isBefore ? sql`<` : sql`>`} ${executions.id}
    order by x.id ${isBefore ? sql`desc` : sql`asc`} limit ${MAX_NEAR}) n)`;
};

/** The answer of the run `against` of the same task; else the one that it was compared with, or the one before it. */
const earlierAnswer = (against: number | undefined) => sql<{ id: number; at: string; answer: string } | null>`(
  select jsonb_build_object('id', x.id, 'at', coalesce(x.planned_for, x.created_at), 'answer', x.result)
  from executions x where x.id = ${against ?? earlierSuccess} and x.task_id = ${executions.taskId} and x.result is not null)`;

const MAX_COMPARABLE = 50;

/** The newest runs of the task, of which those with an answer can be compared with this one. */
const comparable = sql<{ id: number; at: string }[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'at', n.at) order by n.id desc) filter (where n.status = 'completed'), '[]')
  from (select x.id, x.status, coalesce(x.planned_for, x.created_at) as at from executions x
    where x.task_id = ${executions.taskId} and x.id <> ${executions.id} order by x.id desc limit ${MAX_COMPARABLE}) n)`;

const attachments = sql<{ name: string; url: string | null }[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('name', u.name, 'url', case when u.storage = 'blob' then u.url end)
    order by a.at), '[]')
  from unnest(${tasks.attachments}) with ordinality a(id, at)
  join uploads u on u.id = a.id and u.user_id = ${tasks.userId})`;

/** The part of the cost that is for tools; 0 if the provider reports one sum. */
const toolCostUsd = sql<number>`(
  select coalesce(sum(${usageRecords.toolCostUsd}), 0) from ${usageRecords} where ${usageRecords.executionId} = ${executions.id})`;

const MAX_QUESTIONS = 20;

/** The latest ones about its answer, oldest first. */
const questions = sql<{ id: number; message: string; content: string; model: string; createdAt: string }[]>`(
  select coalesce(jsonb_agg(to_jsonb(l) order by l.id), '[]') from (
    select q.id, q.message, q.content, q.model, q.created_at as "createdAt" from run_questions q
    where q.execution_id = ${executions.id} and q.user_id = ${executions.userId} order by q.id desc limit ${MAX_QUESTIONS}) l)`;

/** What a page shows of a run, compared with the run `against`, in two statements. Throws 404. */
export async function getRun(ctx: Context, caller: Caller, id: number, against?: number) {
  const [[found], { deliveries, mails }] = await Promise.all([
    ctx.db
      .select({
        execution: executionFields,
        request: executions.request,
        steps: stepFields,
        fate: occurrences.fate,
        toolCostUsd,
        task: {
          id: tasks.id,
          name: tasks.name,
          prompt: tasks.prompt,
          model: tasks.aiModel,
          version: tasks.version,
          changedAt: tasks.updatedAt,
          nextRunAt: tasks.nextExecutionAt,
        },
        attachmentIds: tasks.attachments,
        attachments,
        retries: retriesOfRun,
        earlierAttempts,
        lastSuccess: earlierAnswer(against),
        comparable,
        questions,
        comparedWithId: executions.comparedWithId,
        isChanged: sql<boolean>`${executions.changed} is true and ${isWatched('tasks')}`,
        before: near('before'),
        after: near('after'),
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .leftJoin(
        occurrences,
        and(
          eq(occurrences.taskId, executions.taskId),
          eq(occurrences.plannedFor, executions.plannedFor),
          hasPlannedTrigger('executions'),
        ),
      )
      .where(and(eq(executions.id, id), eq(executions.userId, caller.id))),
    readRunDeliveries(ctx, caller, id),
  ]);
  if (!found || (against !== undefined && found.lastSuccess === null)) throw executionNotFound();
  const { steps, task, attachmentIds, attachments: files, retries, ...rest } = found;
  const execution = toExecution(found.execution);
  const asked = { request: found.request, model: task.model, attachmentIds, changedAt: task.changedAt };
  return {
    run: {
      ...rest,
      execution,
      task: { ...task, attachments: files },
      steps: listSteps({ ...execution, ...steps }, asked, retries.map(toRetry)),
      hasLiveRetry: retries.some(({ status }) => status === 'pending' || status === 'running'),
    },
    deliveries,
    mails,
  };
}

const toRetry = ({ runAt, createdAt, ...retry }: JsonRetry) => ({
  ...retry,
  runAt: new Date(runAt),
  createdAt: new Date(createdAt),
});

/** A filter searches at most this many runs at once: no index has their states, and a user may have millions. */
const MAX_SEARCHED = 5000;
/** Of an answer, for its first line. */
const MAX_ANSWER_START = 400;
/** Ids grow with time, except for transactions that overlap. */
const OVERLAP_MS = 60_000;

interface RunRow
  extends Pick<
    ExecutionRow,
    'id' | 'taskId' | 'status' | 'trigger' | 'attempt' | 'errorCode' | 'error' | 'processingTimeMs' | 'costUsd'
  > {
  taskName: string;
  fate: Fate | null;
  plannedFor: string | null;
  createdAt: string;
  resultStart: string | null;
  /** Whether a later run repeats it. */
  isRetried: boolean;
  isChanged: boolean;
  /** How many pages the answer cites. */
  sources: number;
  isNew: boolean;
}

interface Found {
  runs: RunRow[];
  taskName: string | null;
  searched: number;
  lastSearched: number | null;
}

/** What happened to the run `s`. */
const OUTCOMES = {
  changed: sql`s.changed and exists (select from tasks t where t.id = s.task_id and ${isWatched('t')})`,
  late: sql`exists (select from occurrences o where o.task_id = s.task_id and o.planned_for = s.planned_for
    and o.fate = 'late' and ${hasPlannedTrigger('s')})`,
  failed: sql`s.status = 'failed' and s.error_code <> 'CANCELLED' and (s.error_code <> 'QUOTA_EXCEEDED' or s.started_at is not null)`,
  over_quota: sql`s.error_code = 'QUOTA_EXCEEDED' and s.started_at is null`,
  stopped: sql`s.error_code = 'CANCELLED'`,
};

const MAX_MISSED = 100;
const NEWEST_TASKS = 1000;

const hasName = (name: SQL, text: string | undefined): SQL =>
  text ? sql`${name} ilike ${containsPattern(text)}` : sql`true`;

/** Of the caller's time zone: from the start of the first day until the end of the last one. */
function readDays({ timezone }: Caller, { from, to }: { from?: string; to?: string }) {
  const zone = timezone ?? 'UTC';
  const first = from === undefined ? null : readDay('from', from, zone, 0);
  const until = to === undefined ? null : readDay('to', to, zone, 1);
  if (first && until && first >= until) throw invalidField('to', 'must not be before the first day');
  return { from: first, until };
}

/** The latest planned runs that did not take place, newest first. */
export async function listMissedRuns({ db }: Context, caller: Caller, input: WebActionInput<'listMissedRuns'>) {
  const { taskId, taskName } = input;
  const { from, until } = readDays(caller, input);
  const missed = await queryRows<{ taskId: number; taskName: string; plannedFor: string; recordedAt: string }>(
    db,
    sql`
    select t.id as task_id, t.name as task_name, o.planned_for, o.recorded_at
    from (
      select id, name from tasks where user_id = ${caller.id}
        and ${taskId === undefined ? sql`true` : sql`id = ${taskId}`} order by id desc limit ${NEWEST_TASKS}
    ) t
    cross join lateral (
      select planned_for, recorded_at from occurrences where task_id = t.id and fate = 'missed'
        ${from ? sql`and planned_for >= ${from.toISOString()}::timestamptz` : sql``}
        ${until ? sql`and planned_for < ${until.toISOString()}::timestamptz` : sql``}
      order by recorded_at desc limit ${MAX_MISSED}
    ) o
    where ${hasName(sql`t.name`, taskName)}
    order by o.planned_for desc limit ${MAX_MISSED}`,
  );
  return {
    missed: missed.map((one) => ({
      ...one,
      plannedFor: toInstant(one.plannedFor),
      recordedAt: toInstant(one.recordedAt),
    })),
  };
}

/**
 * Newest first, in one statement that reads a bounded number of rows. Days are those of the caller's time zone.
 * `isPartial` if only the newest runs were searched for a filter: the cursor leads to the older ones.
 */
export async function listRuns(ctx: Context, caller: Caller, input: WebActionInput<'listRuns'>) {
  const { taskId = null, taskName: name, status, outcome, unseen = false, search, limit } = input;
  if (search !== undefined) await indexRunsOfUser(ctx, caller.id);
  const before = decodeIdCursor(input.cursor);
  const { from, until } = readDays(caller, input);
  const isSearch = Boolean(status || outcome || unseen || search !== undefined || name || from || until);
  const [found] = await queryRows<Found>(
    ctx.db,
    sql`
    with recursive ${from ? sql`first as (${firstIdSince(caller.id, from, -OVERLAP_MS)}),` : sql``}
    ${until ? sql`beyond as (${firstIdSince(caller.id, until, OVERLAP_MS)}),` : sql``}
    searched as materialized (
      select e.id, e.task_id, e.user_id, e.status, e.created_at, e.seen_at, e.trigger, e.planned_for, e.started_at, e.changed, e.error_code, e.outcome
      from executions e where e.user_id = ${caller.id}
        ${search === undefined ? sql`` : sql`and e.id in (${selectRunsWithWords(caller.id, search)})`} ${taskId === null ? sql`` : sql`and e.task_id = ${taskId}`}
        ${before === null ? sql`` : sql`and e.id < ${before}`}
        ${from ? sql`and e.id >= (select id from first)` : sql``} ${until ? sql`and e.id < (select id from beyond)` : sql``}
      order by e.id desc limit ${isSearch ? MAX_SEARCHED : limit + 1}
    ), page as (
      select s.id from searched s
      where true ${status === undefined ? sql`` : sql`and s.status = ${status}`}
        ${outcome === undefined ? sql`` : sql`and ${OUTCOMES[outcome]}`}
        ${unseen ? sql`and ${isUnseen(sql`s`, sql`${caller.id}`)}` : sql``}
        ${name ? sql`and exists (select from tasks t where t.id = s.task_id and ${hasName(sql`t.name`, name)})` : sql``}
        ${from ? sql`and s.created_at >= ${from.toISOString()}::timestamptz` : sql``}
        ${until ? sql`and s.created_at < ${until.toISOString()}::timestamptz` : sql``}
      order by s.id desc limit ${limit + 1}
    ), shown as (
      select e.id, e.task_id as "taskId", t.name as "taskName", e.status, e.trigger, o.fate,
        e.planned_for as "plannedFor", e.created_at as "createdAt", e.attempt, e.error_code as "errorCode", e.error,
        left(e.result, ${MAX_ANSWER_START}) as "resultStart", e.processing_time_ms as "processingTimeMs",
        e.cost_usd as "costUsd", exists (select from executions r where r.retry_of_id = e.id and r.id > e.id) as "isRetried",
        e.changed is true and ${isWatched('t')} as "isChanged", coalesce(json_array_length(e.citations), 0) as sources,
        ${isUnseen(sql`e`, sql`${caller.id}`)} as "isNew"
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
