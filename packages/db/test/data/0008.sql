insert into upload_totals values (2, 0, 0);
insert into loose_objects values ('loose', 2, now());
insert into agent_calls values ('00000000-0000-4000-8000-000000000012', 2, '2026-11-01', 'm', 5, 100, now(), now());
update usage_counters set executions = executions + 1, tokens_reserved = tokens_reserved + 100 where user_id = 2;
insert into webhooks (id, user_id, purpose, task_id, url, secret_sealed, secret_lookup, events, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000013', 1, 'task', 1, 'https://example.com/task', 'sealed', 'other', '{execution.completed}', now(), now());
