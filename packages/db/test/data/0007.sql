insert into executions (task_id, user_id, status, trigger, run_at, started_at, completed_at, result, input_tokens, output_tokens, usage_day, created_at) values
  (3, 2, 'completed', 'manual', now(), now(), now(), 'Good.', 1, 1, '2026-11-01', now());
insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens, estimated, cost_usd, created_at)
  select 2, max(id), 'execution', '2026-11-01', 1, 'm', 1, 1, false, 0, now() from executions;
update usage_counters set executions = executions + 1, tokens = tokens + 2, completed = completed + 1 where user_id = 2;
