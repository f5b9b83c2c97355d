-- What a database of this schema may hold: each table, each state of a run and of a delivery.
insert into settings (id) values (1) on conflict do nothing;
insert into users (identity_user_id, email, name, password_hash, plan, trial_ends_at) values
  ('local:a', 'alice@example.com', 'Alice', '$argon2id$', 'trial', '2026-12-01'),
  ('local:b', 'bob@example.com', 'Bob', null, 'pro', null);
insert into identities (user_id, provider, subject, created_at) values (2, 'google', 'b', now());
insert into sessions values ('00000000-0000-4000-8000-000000000001', 1, 'curl', '::1', now(), now(), now() + interval '7 days');
insert into password_resets values (repeat('a', 64), 1, now(), now() + interval '1 hour', null);
insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, recurrence, timezone, ai_model, max_tokens,
  temperature, status, created_at, updated_at) values
  (1, 'Daily', 'Say something short.', '2026-10-01 08:00Z', '2026-11-02 08:00Z', 'daily', 'Europe/Berlin', 'm', 100, 70, 'active', now(), now()),
  (1, 'Once', 'Say something short.', '2026-10-01 08:00Z', null, 'once', 'UTC', 'm', 100, 70, 'completed', now(), now()),
  (2, 'Paused', 'Say something short.', '2026-10-01 08:00Z', null, 'weekly', 'UTC', 'm', 100, 70, 'paused', now(), now());
insert into occurrences values (1, '2026-10-31 08:00Z', 'ran', now()), (1, '2026-11-01 08:00Z', 'ran', now()), (2, '2026-10-01 08:00Z', 'ran', now());
insert into executions (archived, task_id, user_id, status, trigger, planned_for, run_at, started_at, completed_at, result, error_code, error,
  input_tokens, output_tokens, usage_day, created_at) values
  (true, 1, 1, 'completed', 'schedule', '2026-10-31 08:00Z', now(), now(), now(), 'Good.', null, null, 10, 5, '2026-10-31', now()),
  (true, 1, 1, 'failed', 'schedule', '2026-11-01 08:00Z', now(), now(), now(), null, 'TIMEOUT', 'Too slow.', 10, 0, '2026-11-01', now()),
  (true, 2, 1, 'failed', 'schedule', '2026-10-01 08:00Z', now(), null, '2026-10-01 08:00Z', null, 'QUOTA_EXCEEDED', 'Used up.', null, null, null, now());
insert into executions (task_id, user_id, status, trigger, attempt, retry_of_id, run_at, usage_day, created_at) values
  (1, 1, 'pending', 'retry', 2, 2, now() + interval '1 minute', '2026-11-01', now());
insert into executions (task_id, user_id, status, trigger, run_at, queued_at, started_at, claim_token, lease_until, usage_day,
  tokens_reserved, created_at) values
  (3, 2, 'running', 'manual', now(), now(), now(), '00000000-0000-4000-8000-000000000002', now(), '2026-11-01', 100, now());
insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens, estimated, cost_usd, created_at) values
  (1, 1, 'execution', '2026-10-31', 1, 'm', 10, 5, false, 0.01, now()), (1, 2, 'execution', '2026-11-01', 1, 'm', 10, 0, true, 0, now());
insert into usage_counters (user_id, period, executions, tokens, tokens_reserved, completed, failed) values
  (1, '2026-10-01', 0, 0, 0, 0, 1), (1, '2026-10-31', 1, 15, 0, 1, 0), (1, '2026-10', 1, 15, 0, 1, 1), (1, '2026-11-01', 2, 10, 0, 0, 1), (1, '2026-11', 2, 10, 0, 0, 1),
  (2, '2026-11-01', 1, 0, 100, 0, 0), (2, '2026-11', 1, 0, 100, 0, 0);
insert into usage_alerts (user_id, threshold, notify_email, notify_webhook, created_at) values (1, 80, true, false, now());
insert into usage_alert_firings values (1, '2026-10', 'tokens', now());
insert into coupons (code, value, used_count, created_by_email, created_at, updated_at) values ('WELCOME', 14, 1, 'ada@example.com', now(), now());
insert into coupon_redemptions values (1, 1, now());
insert into notifications (user_id, kind, title, message, created_at) values (1, 'task.failed', 'A task failed', 'It will not run again.', now());
insert into audit_log (at, kind, user_id, details) values (now(), 'user.login', 1, '{"method": "password"}');
insert into rate_hits values (1, '2026-11-01', 'GET /api/tasks', 3, now());
insert into rate_windows values ('GET /api/tasks user 1', 3, now() + interval '1 minute');
insert into uploads (id, user_id, name, type, size, storage, storage_key, url, uploaded_at) values
  ('00000000-0000-4000-8000-000000000003', 1, 'a.txt', 'text/plain', 3, 'base64', null, 'data:text/plain;base64,YWJj', now()),
  ('00000000-0000-4000-8000-000000000004', 1, 'b.txt', 'text/plain', 4, 'blob', 'key', 'https://files.example.com/key', now());
insert into endpoints (id, user_id, url, secret_encrypted, secret_lookup, events, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000005', 1, 'https://example.com/hook', 'encrypted', 'lookup', '{task.completed}', now(), now());
insert into deliveries (id, webhook_id, event, payload, request_id, status, attempt, next_attempt_at, claim_token, lease_until, ended_at, created_at) values
  ('00000000-0000-4000-8000-000000000006', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'pending', 1, now(), null, null, null, now()),
  ('00000000-0000-4000-8000-000000000007', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'sending', 0, null, '00000000-0000-4000-8000-000000000008', now(), null, now()),
  ('00000000-0000-4000-8000-000000000009', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'delivered', 1, null, null, null, now(), now()),
  ('00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'failed', 5, null, null, null, now(), now());
insert into delivery_attempts values ('00000000-0000-4000-8000-00000000000b', '00000000-0000-4000-8000-000000000009',
  '00000000-0000-4000-8000-000000000005', 'task.completed', 'https://example.com/hook', 1, true, 200, null, 12, now());
insert into mails (id, recipient, subject, body_encrypted, next_attempt_at, sent_at, failed_at, created_at) values
  ('00000000-0000-4000-8000-00000000000c', 'alice@example.com', 'Waits', 'encrypted', now(), null, null, now()),
  ('00000000-0000-4000-8000-00000000000d', 'alice@example.com', 'Sent', null, null, now(), null, now()),
  ('00000000-0000-4000-8000-00000000000e', 'alice@example.com', 'Given up', null, null, null, now(), now());
insert into mails (id, kind, recipient, subject, next_attempt_at, created_at) values
  ('00000000-0000-4000-8000-00000000000f', 'password_reset', 'bob@example.com', 'Reset', now(), now());
insert into executions (task_id, user_id, status, trigger, via_webhook, run_at, queued_at, usage_day, created_at) values
  (3, 2, 'pending', 'inbound', true, now(), now(), '2026-11-01', now());
update usage_counters set executions = executions + 1 where user_id = 2;
insert into deliveries (id, webhook_id, event, payload, request_id, status, attempt, next_attempt_at, queued_at, ended_at, created_at) values
  ('00000000-0000-4000-8000-000000000010', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'pending', 0, now(), now(), null, now()),
  ('00000000-0000-4000-8000-000000000011', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'failed', 5, null, null, now(), now());
insert into executions (archived, task_id, user_id, status, trigger, run_at, started_at, completed_at, result, input_tokens, output_tokens, usage_day, created_at) values
  (true, 3, 2, 'completed', 'manual', now(), now(), now(), 'Good.', 1, 1, '2026-11-01', now());
insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens, estimated, cost_usd, created_at)
  select 2, max(id), 'execution', '2026-11-01', 1, 'm', 1, 1, false, 0, now() from executions;
update usage_counters set executions = executions + 1, tokens = tokens + 2, completed = completed + 1 where user_id = 2;
insert into upload_totals values (1, 7, 2), (2, 0, 0);
insert into orphaned_objects values ('loose', 2, now());
insert into agent_calls values ('00000000-0000-4000-8000-000000000012', 2, '2026-11-01', 'm', 5, 100, now(), now());
update usage_counters set executions = executions + 1, tokens_reserved = tokens_reserved + 100 where user_id = 2;
insert into endpoints (id, user_id, purpose, task_id, url, secret_encrypted, secret_lookup, events, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000013', 1, 'task', 1, 'https://example.com/task', 'encrypted', 'other', '{execution.completed}', now(), now());
update users set notification_emails = '{team@example.com,ops@example.com}' where id = 1;
update tasks set notification_email = 'ops@example.com' where id = 1;
insert into email_changes values (1, 'new@example.com', 'confirm', repeat('a', 64), now());
insert into notification_addresses values (1, 'team@example.com', null, null, now()), (1, 'ops@example.com', null, null, now()), (2, 'team@example.com', repeat('b', 64), now(), null);
insert into api_keys values ('00000000-0000-4000-8000-000000000003', 1, 'Report', 'crl_00000000', repeat('c', 64), array['tasks:read'], null, now(), now());
insert into api_key_usage values ('00000000-0000-4000-8000-000000000003', '2026-11', 7);
insert into idempotency_keys (id, user_id, claim_token, claimed_at, lease_until, backend_pid, status, location, answer_encrypted, expires_at) values (
  '1:' || repeat('a', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', 1, 201, '/api/tasks/1', 'encrypted', now() + interval '1 day'
);
insert into idempotency_keys (id, user_id, claim_token, claimed_at, lease_until, backend_pid, status, location, answer_encrypted, expires_at) values (
  '1:' || repeat('b', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', null, null, null, null, now() + interval '1 day'
);
insert into event_positions values (1, 2);
insert into events (user_id, id, kinds, task_id, data, created_at) values (1, 1, '{task.created}', 1, '{"task":{"id":1}}', now()), (1, 2, '{usage.alert}', null, '{}', now());
insert into event_streams values
  ('00000000-0000-4000-8000-000000000017', 1, '00000000-0000-4000-8000-000000000016', null, now());
insert into task_proposals values
  ('00000000-0000-4000-8000-000000000027', 1, '{"name":"Price"}', now(), now() + interval '1 day', null, null);
