/** Starts jobs with their occurrences: $1 jobs, $2 now, $3 lease end, $4 claim token, $5 day. */
export const START_JOBS = `
  with jobs as (
    select * from jsonb_to_recordset($1::text::jsonb) as j("taskId" int, "userId" int, "plannedFor" timestamptz)
  ), ledger as (
    insert into occurrences (task_id, planned_for, fate, recorded_at)
    select "taskId", "plannedFor", 'ran', $2::timestamptz from jobs on conflict do nothing
  )
  insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, started_at, claim_token,
    lease_until, usage_day, tokens_reserved, created_at)
  select "taskId", "userId", 'running', 'schedule', "plannedFor", "plannedFor", $2::timestamptz, $2::timestamptz, $4::uuid,
    $3::timestamptz, $5::date, 256, $2::timestamptz from jobs
  returning id, task_id as "taskId"`;

/** Completes executions and records their usage: $1 results, $2 now, $3 day. Locks the counters in one order. */
export const COMPLETE_JOBS = `
  with results as (
    select * from jsonb_to_recordset($1::text::jsonb)
      as r(id int, "taskId" int, "userId" int, text text, model text, input int, output int, ms int)
  ), completed as (
    update executions e set status = 'completed', archived = true, completed_at = $2::timestamptz, claim_token = null, lease_until = null,
      tokens_reserved = 0, result = r.text, model = r.model, input_tokens = r.input, output_tokens = r.output,
      cost_usd = 0, processing_time_ms = r.ms
    from results r where not e.archived and e.id = r.id
  ), recorded as (
    insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
      estimated, cost_usd, created_at)
    select "userId", id, 'execution', $3::date, 1, model, input, output, false, 0, $2::timestamptz from results
  ), counted as (
    insert into usage_counters (user_id, period, executions, tokens, completed)
    select "userId", p, count(*), sum(input + output), count(*)
    from results, (values ($3::text), (left($3::text, 7))) d(p) group by 1, 2 order by 1, 2
    on conflict (user_id, period) do update set executions = usage_counters.executions + excluded.executions,
      tokens = usage_counters.tokens + excluded.tokens, completed = usage_counters.completed + excluded.completed
  )
  update tasks t set last_execution_at = $2::timestamptz, execution_count = t.execution_count + 1, last_duration_ms = r.ms,
    next_execution_at = t.next_execution_at + interval '1 day'
  from results r where t.id = r."taskId"`;
