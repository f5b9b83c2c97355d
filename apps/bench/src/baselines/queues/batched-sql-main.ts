import { runBatched } from './batched-loop.ts';

// The same writes as Carillon in batches, without limits, events, retries and recovery. All statements lock the counters in
// the same order to avoid deadlocks.

/** Starts queued executions and reserves their tokens: $1 now, $2 lease end, $3 limit, $4 claim token. */
const START = `
  with queued as (
    select e.id from executions_live e where e.status = 'pending' and e.queued_at is not null
    order by e.user_id, e.run_at, e.id limit $3::int for no key update skip locked
  ), started as (
    update executions_live e set status = 'running', started_at = $1::timestamptz, claim_token = $4::uuid,
      lease_until = $2::timestamptz, tokens_reserved = 256
    from queued where e.id = queued.id returning e.id, e.task_id, e.user_id, e.usage_day
  ), touched as (
    update tasks t set last_execution_at = $1::timestamptz, execution_count = t.execution_count + 1
    from started s where t.id = s.task_id returning s.id, t.prompt
  ), sums as (
    select user_id, period, count(*) * 256 as reserved from started s,
      lateral (values (s.usage_day::text), (left(s.usage_day::text, 7))) d(period) group by 1, 2
  ), held as (
    select user_id, period, s.reserved from usage_counters c join sums s using (user_id, period)
    order by user_id, period for no key update of c
  ), counted as (
    update usage_counters c set tokens_reserved = c.tokens_reserved + h.reserved
    from held h where c.user_id = h.user_id and c.period = h.period
  )
  select id, prompt from touched`;

/** Completes executions and records their usage: $1 results, $2 now. */
const COMPLETE = `
  with results as (
    select * from jsonb_to_recordset($1::text::jsonb)
      as e(id int, text text, model text, input int, output int, ms int)
  ), completed as (
    update executions x set status = 'completed', archived = true, completed_at = $2::timestamptz, claim_token = null, lease_until = null,
      tokens_reserved = 0, result = e.text, model = e.model, input_tokens = e.input, output_tokens = e.output,
      cost_usd = 0, processing_time_ms = e.ms
    from results e where not x.archived and x.id = e.id
    returning x.id, x.task_id, x.user_id, x.usage_day, e.model, e.input, e.output, e.ms
  ), recorded as (
    insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens,
      estimated, cost_usd, created_at)
    select user_id, id, 'execution', usage_day, 1, model, input, output, false, 0, $2::timestamptz from completed
  ), touched as (
    update tasks t set last_duration_ms = e.ms, consecutive_failures = 0 from completed e where t.id = e.task_id
  ), sums as (
    select user_id, period, sum(input + output) as used, count(*) * 256 as reserved, count(*) as completed from completed e,
      lateral (values (e.usage_day::text), (left(e.usage_day::text, 7))) d(period) group by 1, 2
  ), held as (
    select user_id, period, s.used, s.reserved, s.completed from usage_counters c join sums s using (user_id, period)
    order by user_id, period for no key update of c
  )
  update usage_counters c set tokens = c.tokens + h.used, tokens_reserved = c.tokens_reserved - h.reserved,
    completed = c.completed + h.completed
  from held h where c.user_id = h.user_id and c.period = h.period`;

await runBatched({ start: START, complete: COMPLETE });
