import { randomInt } from 'node:crypto';
import {
  type ExecutionRequest,
  type NOTIFY_WHEN,
  type OutputSchema,
  queryRows,
  type RunContext,
  type TaskSource,
} from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import { hasPlannedTrigger } from '../../../platform/queries/runs.ts';
import { type Budget, selectBudget } from '../budget/budget.ts';
import type { RequestInput } from '../request/build-request.ts';
import { type InputText, selectInputs } from '../request/inputs.ts';
import { MAX_SENT } from '../request/system-message.ts';

export const MAX_RUNNING_PER_USER = 5;
/** The quota of a day: all may be of one task. */
const MAX_CONSIDERED = 500;
/** How far a chain of retries on demand is followed. */
const MAX_REPEATED = 20;
/**
 * Of one selection, which has half as many users as it may start executions: most have several, and each lock is an entry in a
 * table of the whole server.
 */
const MIN_USERS = 20;
const MAX_USERS = 100;
/** Of all processes: each running execution has one of as many slots. */
const MAX_RUNNING = 1000;
/** Of one claim, which locks as many slots. */
export const MAX_STARTS = 200;

/** Of this transaction. Null before the first selection. */
const lockedUsers = sql`nullif(current_setting('carillon.users', true), '')::int[]`;

const isFree = sql`s.slot not in (select r.slot from executions_live r where r.status = 'running' and r.slot is not null)`;

export interface ClaimedExecution {
  id: number;
  taskId: number;
  userId: number;
  attempt: number;
  trigger: string;
  /** In PostgreSQL's format. */
  runAt: string;
  claimToken: string;
  request: ExecutionRequest;
  /** What the request was built from, if it waits for the texts of `sources`. */
  unread: RequestInput | null;
  sources: TaskSource[];
  outputSchema: OutputSchema | null;
  tools: WebTool[];
  maxToolUses: number;
  requireTools: boolean;
  fallbackModels: string[];
  notify: (typeof NOTIFY_WHEN)[number];
  watch: string[];
  /** Null for the timeout of the configuration. */
  timeoutMs: number | null;
  /** Of the last success. */
  lastSuccessId: number | null;
  lastSuccessDigest: string | null;
  maxTokens: number;
  temperature: number;
  attachmentIds: string[];
  providerKeyEncrypted: string | null;
}

export type Candidate = Omit<ClaimedExecution, 'claimToken' | 'request' | 'unread'> & {
  /** The provider of the model, if it has a limit. Left out otherwise. */
  provider?: string;
  /** How many executions of its user run. */
  running: number;
  taskName: string;
  prompt: string;
  aiModel: string;
  timezone: string;
  context: RunContext;
  plannedFor: string | null;
  inboundData: Record<string, unknown> | null;
  lastSuccessAt: string | null;
  /** The start of the last success, if the prompt or the context asks for it. */
  previousResult: string | null;
  /** What it reads of other tasks; null without any. */
  inputs: InputText[] | null;
  budget: Budget | null;
  usageDay: string;
  viaWebhook: boolean;
  /** Of the task. */
  version: number;
  lastDurationMs: number | null;
  /** False after an interruption. */
  isFirstStart: boolean;
};

/** Which queued rows are considered, and in which order if not user by user. */
export interface Choice {
  /** Begins with `and`, for the alias `l`. */
  isIncluded: SQL;
  /** `order by …` over `w.turn` of the user and `p.place`, the place of a row among those of its user. */
  inTurn: SQL;
}

export interface Round {
  candidates: Candidate[];
  /** How many were left out, because another transaction has locked them or their task. */
  lost: number;
  /** The user after whom the next selection begins; 0 if this one reached the last user. */
  next: number;
  /** Whether other claims have locked users or slots that this one could have used. */
  isContended: boolean;
}

/**
 * Selects up to `limit` queued executions that may start, of the users after `after`. The users are locked until the end of
 * the transaction, before a snapshot counts what runs of them: no other claim starts a run of theirs, so the counts are exact.
 */
export async function selectCandidates(
  tx: Context,
  limit: number,
  after: number,
  choice: Choice | null = null,
): Promise<Round> {
  const [, users, rows] = await Promise.all([
    waitForOlderClaims(tx),
    lockUsers(tx, Math.min(Math.max(Math.ceil(limit / 2), MIN_USERS), MAX_USERS), after, choice),
    selectRunnable(tx, limit, choice),
  ]);
  const candidates = rows.filter((row): row is typeof row & Candidate => row.id !== null);
  return {
    candidates,
    lost: rows.length - candidates.length,
    next: rows.length < limit ? users.next : (rows.at(-1)?.roundUserId ?? after),
    isContended: users.isContended,
  };
}

/** During an upgrade: claims of the version before take one of four turns, and count under other locks. */
const waitForOlderClaims = ({ db }: Context) =>
  queryRows(
    db,
    sql`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.claimTurns}, turn) from generate_series(1, 4) turn`,
  );

/** Skips users that other claims have locked. Plan: `executions_queued`, from user to user, so that the cost grows with them. */
async function lockUsers({ db }: Context, count: number, after: number, choice: Choice | null) {
  const isChosen = choice
    ? sql`and exists (select from executions_live l
        where l.status = 'pending' and l.queued_at is not null and l.user_id = w.user_id ${choice.isIncluded})`
    : sql``;
  const [row] = await queryRows<{ tried: number; locked: number; last: number | null }>(
    db,
    sql`
    with recursive waiting(user_id) as (
      (select user_id from executions_live where status = 'pending' and queued_at is not null and user_id > ${after}
        order by user_id limit 1)
      union all
      select (select e.user_id from executions_live e where e.status = 'pending' and e.queued_at is not null
        and e.user_id > w.user_id order by e.user_id limit 1)
      from waiting w where w.user_id is not null
    ), tried as materialized (
      select user_id, pg_try_advisory_xact_lock(${ADVISORY_LOCKS.claimedUsers}, user_id) as is_locked from waiting w
      where user_id is not null ${isChosen} limit ${count}
    )
    select set_config('carillon.users', coalesce(array_agg(user_id order by user_id) filter (where is_locked), '{}')::text, true),
      count(*)::int as tried, count(*) filter (where is_locked)::int as locked, max(user_id) as last
    from tried`,
  );
  const { tried = 0, locked = 0, last = null } = row ?? {};
  return { next: tried < count ? 0 : (last ?? 0), isContended: locked < tried };
}

/** A retry on demand has the planned instant of the first execution that it repeats. */
const PLANNED_FOR = sql`coalesce(e.planned_for, case when e.retry_of_id is not null then (
  with recursive repeated as (
    select x.retry_of_id, x.planned_for, 1 as depth from past_execution(e.retry_of_id, e.task_id) x
    union all
    select x.retry_of_id, x.planned_for, r.depth + 1 from repeated r, past_execution(r.retry_of_id, e.task_id) x
    where r.planned_for is null and r.depth < ${sql.raw(String(MAX_REPEATED))}
  )
  select planned_for from repeated where planned_for is not null limit 1
) end)`;

/**
 * Reads and locks rows of the locked users, in their order: a planned run waits for the retries of its task, so that no older
 * instant answers after it. `id` is null if another transaction has locked the row or its task.
 *
 * Plan: one probe of `executions_queued`, `executions_running` and `executions_retries` for each user, then rows by primary key.
 */
function selectRunnable({ db }: Context, limit: number, choice: Choice | null) {
  const { isIncluded = sql``, inTurn = sql`` } = choice ?? {};
  return queryRows<{ roundUserId: number } & (Candidate | { id: null })>(
    db,
    sql`
    with picked as materialized (
      select p.id, w.user_id, p.running, row_number() over (${inTurn}) as turn
      from unnest(${lockedUsers}) with ordinality w(user_id, turn) cross join lateral (
        select count(*) as runs, array_agg(task_id) as tasks from executions_live
        where status = 'running' and user_id = w.user_id
      ) busy cross join lateral (
        select array_agg(task_id) as tasks from executions_live
        where status = 'pending' and trigger = 'retry' and user_id = w.user_id
      ) retried cross join lateral (
        select q.id, busy.runs::int as running, row_number() over (order by q.run_at, q.id) as place from (
          select e.id, e.task_id, e.run_at, row_number() over (partition by e.task_id order by e.run_at, e.id) as turn
          from (
            select id, task_id, run_at from executions_live l
            where status = 'pending' and queued_at is not null and user_id = w.user_id
              and (task_id = any(busy.tasks)) is not true
              and (${hasPlannedTrigger('l')} and task_id = any(retried.tasks)) is not true ${isIncluded}
            order by run_at, id limit ${MAX_CONSIDERED}
          ) e
        ) q
        where q.turn = 1
        order by q.run_at, q.id limit greatest(0, ${MAX_RUNNING_PER_USER}::int - busy.runs)
      ) p
      where (select is_active from users where id = w.user_id) and not (select maintenance_mode from settings)
      ${inTurn} limit ${limit}
    ), held as (
      select e.id, e.task_id, e.user_id, e.attempt, e.usage_day, e.trigger, e.run_at, e.via_webhook,
        e.started_at is null as is_first_start, t.name as task_name, t.prompt, t.ai_model, t.max_tokens, t.temperature,
        t.attachment_ids, t.last_duration_ms, u.provider_key_encrypted, ${PLANNED_FOR} as planned_for, e.inbound_data, t.timezone, t.context,
        t.output_schema, t.sources, t.tools, t.max_tool_uses, t.require_tools, t.fallback_models, t.notify, t.watch, t.timeout_ms, t.last_success_id, t.last_success_digest, t.last_success_at, t.version,
        ${selectBudget} as budget,
        case when (t.context ->> 'previousResult')::boolean or strpos(t.prompt, '{{previous_result}}') > 0 then (
          select left(p.result, ${MAX_SENT}) from past_execution(t.last_success_id, t.id) p
        ) end as previous_result, ${selectInputs(sql`t.inputs`, sql`t.user_id`)} as inputs
      from executions_live e join tasks t on t.id = e.task_id join users u on u.id = e.user_id
      -- "is true": otherwise an index lists all that waits, only to check the state again under the lock.
      where e.id = any(array(select id from picked)) and (e.status = 'pending') is true
      for no key update of t, e skip locked
    )
    select picked.user_id as round_user_id, picked.running, held.* from picked left join held using (id) order by picked.turn`,
  );
}

/**
 * Returns up to `count` free slots, which no other claim takes before the end of the transaction, and no more than the users
 * that are locked before can fill. Looks from a random one on, so that few claims find the same. Plan: `executions_slots`, hashed.
 */
export async function takeSlots({ db }: Context, count: number): Promise<{ slots: number[]; isContended: boolean }> {
  const [[tried], free] = await Promise.all([
    queryRows<{ isContended: boolean }>(
      db,
      sql`
      with free as materialized (
        select s.slot from (
          select (${randomInt(MAX_RUNNING)}::int + step) % ${MAX_RUNNING}::int + 1 as slot from generate_series(0, ${MAX_RUNNING - 1}::int) step
        ) s
        where ${isFree} limit least(${count}::int, ${MAX_RUNNING_PER_USER}::int * cardinality(${lockedUsers}))
      ), locked as materialized (
        select slot from free where pg_try_advisory_xact_lock(${ADVISORY_LOCKS.slots}, slot)
      )
      select set_config('carillon.slots', coalesce(array_agg(slot), '{}')::text, true),
        count(*) < (select count(*) from free) as is_contended
      from locked`,
    ),
    // A second statement: its snapshot must be taken under the locks.
    queryRows<{ slot: number }>(
      db,
      sql`select slot from unnest(current_setting('carillon.slots')::int[]) s(slot) where ${isFree}`,
    ),
  ]);
  return { slots: free.map(({ slot }) => slot), isContended: tried?.isContended ?? false };
}
