import { runBatched } from './batched-loop.ts';

// Statements that do what Carillon does, for one process. All lock tasks, executions, counters and positions in this order.

/** The positions and rows of the events of `rows`, two kinds each; the condition has the counters locked first. */
const record = (rows: string, kinds: string, at: string) => `
  positions as (
    insert into event_positions as p (user_id, last_id) select user_id, 2 * count(*) from ${rows}
    where (select count(*) from held) >= 0 group by 1 order by 1
    on conflict (user_id) do update set last_id = p.last_id + excluded.last_id
    returning user_id, last_id
  ), logged as (
    insert into events (user_id, id, kinds, task_id, data, created_at)
    select user_id, last_id - 2 * (row_number() over (partition by user_id order by id desc) - 1), '${kinds}', task_id, data,
      ${at}::timestamptz
    from ${rows} join positions using (user_id)
  ), queued_deliveries as (
    insert into deliveries (id, webhook_id, event, payload, request_id, status, next_attempt_at, queued_at, created_at)
    select gen_random_uuid(), h.id, k.event, r.data, '', 'pending', ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from ${rows} r join endpoints h on h.user_id = r.user_id and h.status = 'active' and h.events && '${kinds}'
    cross join unnest('${kinds}'::text[]) k(event) where k.event = any(h.events)
  )`;

/**
 * Starts up to 5 executions of a user and one of a task, by their quotas and budgets, user by user:
 * $1 now, $2 lease end, $3 limit, $4 claim token.
 */
const START = `
  with recursive waiting(user_id) as (
    (select user_id from executions_live where status = 'pending' and queued_at is not null order by user_id limit 1)
    union all
    select (select e.user_id from executions_live e where e.status = 'pending' and e.queued_at is not null
      and e.user_id > w.user_id order by e.user_id limit 1)
    from waiting w where w.user_id is not null
  ), picked as materialized (
    select p.id, w.user_id from waiting w cross join lateral (
      select count(*) as runs, array_agg(task_id) as tasks from executions_live where status = 'running' and user_id = w.user_id
    ) busy cross join lateral (
      select id from executions_live where status = 'pending' and queued_at is not null and user_id = w.user_id
        and (task_id = any(busy.tasks)) is not true
      order by run_at, id limit greatest(0, 5 - busy.runs)
    ) p
    where (select is_active from users where id = w.user_id) limit $3::int
  ), queued as materialized (
    select e.id, e.task_id, e.user_id, e.usage_day, t.name, t.prompt, t.last_duration_ms
    from executions_live e join tasks t on t.id = e.task_id
    where e.id = any(array(select id from picked)) and (e.status = 'pending') is true
      and (t.monthly_budget_usd is null or t.month_cost_usd < t.monthly_budget_usd)
    for no key update of t, e skip locked
  ), sums as (
    select user_id, period, count(*) * 256 as reserved from queued q,
      lateral (values (q.usage_day::text), (left(q.usage_day::text, 7))) d(period) group by 1, 2
  ), held as materialized (
    select user_id, period, s.reserved, c.tokens + c.tokens_reserved < 100000000 as is_allowed
    from usage_counters c join sums s using (user_id, period) order by user_id, period for no key update of c
  ), allowed as (
    select user_id from held group by 1 having bool_and(is_allowed)
  ), started as (
    update executions_live e set status = 'running', started_at = $1::timestamptz, claim_token = $4::uuid,
      lease_until = $2::timestamptz, tokens_reserved = 256, request = json_build_object('system', null, 'prompt', q.prompt)
    from queued q join allowed using (user_id) where e.id = q.id
    returning e.id, e.task_id, e.user_id, q.prompt, json_build_object(
      'task', json_build_object('id', e.task_id, 'name', q.name),
      'execution', json_build_object('id', e.id, 'status', 'running', 'startedAt', $1::text,
        'estimatedDurationMs', coalesce(q.last_duration_ms, 10000)))::text as data
  ), touched as (
    update tasks t set last_execution_at = $1::timestamptz, execution_count = t.execution_count + 1
    from started s where t.id = s.task_id
  ), counted as (
    update usage_counters c set tokens_reserved = c.tokens_reserved + h.reserved
    from held h join allowed using (user_id) where c.user_id = h.user_id and c.period = h.period
  ), ${record('started', '{task.started,execution.started}', '$1')}
  select id, prompt from started`;

/** Completes executions whose claim is still held, and records their usage: $1 results, $2 now. */
const COMPLETE = `
  with results as (
    select * from jsonb_to_recordset($1::text::jsonb)
      as e(id int, token uuid, text text, model text, input int, output int, ms int)
  ), tasks_held as materialized (
    select t.id, t.name, t.status from tasks t
    where t.id in (select e.task_id from executions_live e join results using (id)) order by t.id for no key update
  ), completed as (
    update executions x set status = 'completed', archived = true, completed_at = $2::timestamptz, claim_token = null, lease_until = null,
      tokens_reserved = 0, result = e.text, model = e.model, input_tokens = e.input, output_tokens = e.output,
      cost_usd = 0, processing_time_ms = e.ms
    from results e join executions_live was using (id) join tasks_held t on t.id = was.task_id
    where not x.archived and x.id = e.id and x.status = 'running' and x.claim_token = e.token
    returning x.id, x.task_id, x.user_id, x.usage_day, e.text, e.model, e.input, e.output, e.ms, json_build_object(
      'task', json_build_object('id', x.task_id, 'name', t.name, 'status', t.status),
      'execution', json_build_object('id', x.id, 'status', 'completed', 'result', e.text,
        'tokensUsed', json_build_object('input', e.input, 'output', e.output, 'total', e.input + e.output),
        'processingTimeMs', e.ms, 'startedAt', x.started_at, 'completedAt', $2::text))::text as data
  ), recorded as (
    insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
      estimated, cost_usd, created_at)
    select user_id, id, 'execution', usage_day, 1, model, input, output, false, 0, $2::timestamptz from completed
  ), touched as (
    update tasks t set last_duration_ms = e.ms, consecutive_failures = 0, waiting_failures = 0, last_success_id = e.id,
      last_success_at = $2::timestamptz, last_success_digest = md5(e.text), cost_month = left(e.usage_day::text, 7)
    from completed e where t.id = e.task_id
  ), sums as (
    select user_id, period, sum(input + output) as used, count(*) * 256 as reserved, count(*) as completed from completed e,
      lateral (values (e.usage_day::text), (left(e.usage_day::text, 7))) d(period) group by 1, 2
  ), held as (
    select user_id, period, s.used, s.reserved, s.completed from usage_counters c join sums s using (user_id, period)
    order by user_id, period for no key update of c
  ), counted as (
    update usage_counters c set tokens = c.tokens + h.used, tokens_reserved = c.tokens_reserved - h.reserved,
      completed = c.completed + h.completed
    from held h where c.user_id = h.user_id and c.period = h.period
  ), ${record('completed', '{task.completed,execution.completed}', '$2')}
  select count(*) from completed`;

// Batched SQL that also keeps the limits, quotas and budgets, fences by token, and writes the events.
await runBatched({ start: START, complete: COMPLETE });
