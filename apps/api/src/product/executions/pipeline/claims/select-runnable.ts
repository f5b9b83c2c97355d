import { randomInt } from 'node:crypto';
import { type ExecutionRequest, type NOTIFY_WHEN, type OutputSchema, queryRows, type RunContext } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';
import type { WebTool } from '../../../../lib/ai/request.ts';
import { hasPlannedTrigger } from '../../../../platform/queries/runs.ts';
import { type Budget, selectBudget } from '../../budget/budget.ts';
import { MAX_SENT } from '../../request/system-message.ts';

export const MAX_RUNNING_PER_USER = 5;
/** Of all processes: each running execution has one of so many slots. */
const MAX_RUNNING = 1000;
/** The quota of a day: all may be of one task. */
const MAX_CONSIDERED = 500;
/** How far a chain of retries on demand is followed. */
const MAX_REPEATED = 20;

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

/** A retry on demand has the planned instant of the first execution that it repeats. */
const PLANNED_FOR = sql`coalesce(e.planned_for, case when e.retry_of_id is not null then (
  with recursive repeated as (
    select retry_of_id, planned_for, 1 as depth from executions where id = e.retry_of_id
    union all
    select x.retry_of_id, x.planned_for, r.depth + 1 from repeated r join executions x on x.id = r.retry_of_id
    where r.planned_for is null and r.depth < ${sql.raw(String(MAX_REPEATED))}
  )
  select planned_for from repeated where planned_for is not null limit 1
) end)`;

const isFree = sql`not exists (select from executions_live r where r.status = 'running' and r.slot = s.slot)`;

export type Candidate = Omit<ClaimedExecution, 'claimToken' | 'request'> & {
  /** The provider of the model, if it has a limit. Left out otherwise. */
  provider?: string;
  /** Was free when it was read: from 1 to 1000. */
  slot: number;
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
  budget: Budget | null;
  usageDay: string;
  viaWebhook: boolean;
  lastDurationMs: number | null;
  /** False after an interruption. */
  isFirstStart: boolean;
};

/** `id` is null if another transaction has locked the row or its task, or if every slot is taken; then `slot` is null too. */
export type RunnableRow = { roundUserId: number } & (Candidate | { id: null; slot: number | null });

/** Which queued rows are considered, and in which order if not in that of their users. */
export interface Choice {
  /** Begins with `and`, for the alias `l`. */
  isIncluded: SQL;
  /** `order by …` over `w.user_id` and `p.place`, the place of a row among those of its user; empty for the order of users. */
  inTurn: SQL;
}
const EVERYTHING: Choice = { isIncluded: sql``, inTurn: sql`` };

/**
 * Locks up to `limit` queued rows that may start, in the order of their users after `after`: a planned run waits for the
 * retries of its task, so that no older instant answers after it. Skips from user to user in
 * the index, so the cost grows with the users, not their rows: a join instead of the scalar subquery could lose the order.
 * Looks for free slots from a random one on, so that few claims find the same.
 *
 * Plan: one probe of `executions_queued`, `executions_running` and `executions_retries` for each user, then rows by primary key.
 */
export function selectRunnable(
  ctx: Context,
  limit: number,
  after: number,
  { isIncluded, inTurn }: Choice = EVERYTHING,
): Promise<RunnableRow[]> {
  return queryRows<RunnableRow>(
    ctx.db,
    sql`
    with recursive waiting(user_id) as (
      (select user_id from executions_live where status = 'pending' and queued_at is not null and user_id > ${after}
        order by user_id limit 1)
      union all
      select (select e.user_id from executions_live e where e.status = 'pending' and e.queued_at is not null
        and e.user_id > w.user_id order by e.user_id limit 1)
      from waiting w where w.user_id is not null
    ), picked as materialized (
      select p.id, p.run_at, w.user_id, row_number() over (${inTurn}) as turn from waiting w cross join lateral (
        select count(*) as runs, array_agg(task_id) as tasks from executions_live
        where status = 'running' and user_id = w.user_id
      ) busy cross join lateral (
        select array_agg(task_id) as tasks from executions_live
        where status = 'pending' and trigger = 'retry' and user_id = w.user_id
      ) retried cross join lateral (
        select q.id, q.run_at, row_number() over (order by q.run_at, q.id) as place from (
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
    ), free as materialized (
      select s.slot, row_number() over () as turn from (
        select (${randomInt(MAX_RUNNING)}::int + step) % ${MAX_RUNNING}::int + 1 as slot from generate_series(0, ${MAX_RUNNING - 1}::int) step
      ) s
      where ${isFree}
      limit (select count(*) from picked)
    ), held as (
      select e.id, e.task_id, e.user_id, e.attempt, e.usage_day, e.trigger, e.run_at, e.via_webhook,
        e.started_at is null as is_first_start, t.name as task_name, t.prompt, t.ai_model, t.max_tokens, t.temperature,
        t.attachment_ids, t.last_duration_ms, u.provider_key_encrypted, ${PLANNED_FOR} as planned_for, e.inbound_data, t.timezone, t.context,
        t.output_schema, t.tools, t.max_tool_uses, t.require_tools, t.fallback_models, t.notify, t.watch, t.timeout_ms, t.last_success_id, t.last_success_digest, t.last_success_at,
        ${selectBudget} as budget,
        case when (t.context ->> 'previousResult')::boolean or strpos(t.prompt, '{{previous_result}}') > 0 then (
          select left(p.result, ${MAX_SENT}) from executions p where p.id = t.last_success_id and p.task_id = t.id
        ) end as previous_result
      from executions_live e join tasks t on t.id = e.task_id join users u on u.id = e.user_id
      -- "is true": otherwise an index lists all that waits, only to check the state again under the lock.
      where e.id = any(array(select id from picked join free using (turn))) and (e.status = 'pending') is true
      for no key update of t, e skip locked
    )
    select picked.user_id as round_user_id, free.slot, held.* from picked left join free using (turn) left join held using (id)
    order by picked.turn`,
  );
}
