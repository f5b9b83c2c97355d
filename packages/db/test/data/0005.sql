insert into executions (task_id, user_id, status, trigger, via_webhook, run_at, queued_at, usage_day, created_at) values
  (3, 2, 'pending', 'inbound', true, now(), now(), '2026-11-01', now());
update usage_counters set executions = executions + 1 where user_id = 2;
insert into deliveries (id, webhook_id, event, payload, request_id, status, attempt, next_attempt_at, queued_at, ended_at, created_at) values
  ('00000000-0000-4000-8000-000000000010', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'pending', 0, now(), now(), null, now()),
  ('00000000-0000-4000-8000-000000000011', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'failed', 5, null, null, now(), now());
