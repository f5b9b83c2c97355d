CREATE TABLE "identities" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"provider" text NOT NULL,
	"subject" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "identities_subject" UNIQUE("provider","subject")
);
CREATE TABLE "password_resets" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"user_agent" text,
	"address" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "users" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"identity_user_id" text NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"password_hash" text,
	"role" text DEFAULT 'USER' NOT NULL,
	"plan" text DEFAULT 'trial' NOT NULL,
	"timezone" text,
	"is_active" boolean DEFAULT true NOT NULL,
	"trial_ends_at" timestamp (3) with time zone,
	"provider_key_sealed" text,
	"notify_email" boolean DEFAULT true NOT NULL,
	"notify_webhook" boolean DEFAULT true NOT NULL,
	"notification_emails" text[] DEFAULT '{}' NOT NULL,
	"notification_url" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_identity_user_id_unique" UNIQUE("identity_user_id"),
	CONSTRAINT "users_email_lower" CHECK ("users"."email" = lower("users"."email")),
	CONSTRAINT "users_role" CHECK ("users"."role" in ('USER', 'ADMIN')),
	CONSTRAINT "users_plan" CHECK ("users"."plan" in ('trial', 'pro'))
);
CREATE TABLE "coupon_redemptions" (
	"coupon_id" integer NOT NULL,
	"user_id" integer NOT NULL,
	"redeemed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "coupon_redemptions_coupon_id_user_id_pk" PRIMARY KEY("coupon_id","user_id")
);
CREATE TABLE "coupons" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "coupons_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"code" text NOT NULL,
	"type" text DEFAULT 'TRIAL_EXTENSION' NOT NULL,
	"value" integer NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"max_uses" integer,
	"used_count" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_by_email" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "coupons_used" CHECK ("coupons"."used_count" >= 0)
);
CREATE TABLE "executions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "executions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"task_id" integer NOT NULL,
	"user_id" integer NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"planned_for" timestamp (3) with time zone,
	"attempt" integer DEFAULT 1 NOT NULL,
	"retry_of_id" integer,
	"run_at" timestamp (3) with time zone NOT NULL,
	"queued_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"claim_token" uuid,
	"lease_until" timestamp (3) with time zone,
	"interruptions" integer DEFAULT 0 NOT NULL,
	"result" text,
	"error" text,
	"error_code" text,
	"model" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"tokens_estimated" boolean DEFAULT false NOT NULL,
	"cost_usd" double precision,
	"processing_time_ms" integer,
	"usage_day" date,
	"tokens_reserved" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "executions_status" CHECK ("executions"."status" in ('pending', 'running', 'completed', 'failed')),
	CONSTRAINT "executions_trigger" CHECK ("executions"."trigger" in ('schedule', 'manual', 'inbound', 'retry')),
	CONSTRAINT "executions_error_code" CHECK ("executions"."error_code" in ('RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'PROVIDER_UNAVAILABLE', 'PROVIDER_ERROR', 'AUTHENTICATION_FAILED', 'INVALID_REQUEST', 'CONTENT_FILTERED', 'QUOTA_EXCEEDED', 'INTERRUPTED')),
	CONSTRAINT "executions_lease_while_running" CHECK (("executions"."status" = 'running') = ("executions"."claim_token" is not null) and ("executions"."status" = 'running') = ("executions"."lease_until" is not null)),
	CONSTRAINT "executions_ended" CHECK (("executions"."status" in ('completed', 'failed')) = ("executions"."completed_at" is not null)),
	CONSTRAINT "executions_failed_why" CHECK (("executions"."status" = 'failed') = ("executions"."error_code" is not null)),
	CONSTRAINT "executions_reserve_while_running" CHECK ("executions"."tokens_reserved" = 0 or "executions"."status" = 'running')
);
CREATE TABLE "rate_hits" (
	"user_id" integer NOT NULL,
	"day" date NOT NULL,
	"endpoint" text NOT NULL,
	"hits" integer NOT NULL,
	"last_hit" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "rate_hits_user_id_day_endpoint_pk" PRIMARY KEY("user_id","day","endpoint")
);
CREATE UNLOGGED TABLE "rate_windows" (
	"key" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"recipient" text NOT NULL,
	"subject" text NOT NULL,
	"body_sealed" text NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"lease_until" timestamp (3) with time zone,
	"sent_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "notifications" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notifications_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"message" text NOT NULL,
	"read_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "audit_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"actor_id" integer,
	"actor_email" text,
	"user_id" integer,
	"details" jsonb NOT NULL,
	"address" text,
	"request_id" text
);
CREATE TABLE "settings" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"trial_duration_days" integer DEFAULT 14 NOT NULL,
	"max_tasks_per_user" integer DEFAULT 100 NOT NULL,
	"max_executions_per_day" integer DEFAULT 500 NOT NULL,
	"default_model" text DEFAULT 'openai/gpt-5-mini' NOT NULL,
	"maintenance_mode" boolean DEFAULT false NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "settings_one_row" CHECK ("settings"."id" = 1)
);
CREATE TABLE "occurrences" (
	"task_id" integer NOT NULL,
	"planned_for" timestamp (3) with time zone NOT NULL,
	"fate" text NOT NULL,
	"recorded_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "occurrences_task_id_planned_for_pk" PRIMARY KEY("task_id","planned_for"),
	CONSTRAINT "occurrences_fate" CHECK ("occurrences"."fate" in ('ran', 'late', 'skipped_overlap', 'missed', 'over_quota'))
);
CREATE TABLE "tasks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"prompt" text NOT NULL,
	"scheduled_for" timestamp (3) with time zone NOT NULL,
	"next_execution_at" timestamp (3) with time zone,
	"recurrence" text NOT NULL,
	"recurrence_pattern" text,
	"timezone" text NOT NULL,
	"ai_model" text NOT NULL,
	"max_tokens" integer NOT NULL,
	"temperature" integer NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"execution_count" integer DEFAULT 0 NOT NULL,
	"consecutive_failures" integer DEFAULT 0 NOT NULL,
	"last_duration_ms" integer,
	"last_execution_at" timestamp (3) with time zone,
	"attachment_ids" uuid[] DEFAULT '{}' NOT NULL,
	"webhook_url" text,
	"notification_email" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "tasks_recurrence" CHECK ("tasks"."recurrence" in ('once', 'daily', 'weekly', 'monthly')),
	CONSTRAINT "tasks_status" CHECK ("tasks"."status" in ('active', 'paused', 'completed', 'failed')),
	CONSTRAINT "tasks_next_only_when_active" CHECK ("tasks"."next_execution_at" is null or "tasks"."status" = 'active'),
	CONSTRAINT "tasks_max_tokens" CHECK ("tasks"."max_tokens" between 1 and 200000),
	CONSTRAINT "tasks_temperature" CHECK ("tasks"."temperature" between 0 and 200)
);
CREATE TABLE "uploads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"size" integer NOT NULL,
	"storage" text NOT NULL,
	"storage_key" text,
	"url" text NOT NULL,
	"uploaded_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "uploads_size" CHECK ("uploads"."size" >= 0)
);
CREATE TABLE "usage_alert_firings" (
	"alert_id" integer NOT NULL,
	"period" text NOT NULL,
	"resource" text NOT NULL,
	"fired_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_alert_firings_alert_id_period_resource_pk" PRIMARY KEY("alert_id","period","resource")
);
CREATE TABLE "usage_alerts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "usage_alerts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"threshold" integer NOT NULL,
	"notify_email" boolean NOT NULL,
	"notify_webhook" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_alerts_threshold" UNIQUE("user_id","threshold"),
	CONSTRAINT "usage_alerts_percent" CHECK ("usage_alerts"."threshold" between 1 and 100)
);
CREATE TABLE "usage_counters" (
	"user_id" integer NOT NULL,
	"period" text NOT NULL,
	"executions" integer DEFAULT 0 NOT NULL,
	"tokens" bigint DEFAULT 0 NOT NULL,
	"tokens_reserved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_counters_user_id_period_pk" PRIMARY KEY("user_id","period"),
	CONSTRAINT "usage_counters_not_negative" CHECK ("usage_counters"."executions" >= 0 and "usage_counters"."tokens" >= 0 and "usage_counters"."tokens_reserved" >= 0)
);
CREATE TABLE "usage_records" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "usage_records_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"execution_id" integer,
	"source" text NOT NULL,
	"day" date NOT NULL,
	"executions" integer NOT NULL,
	"model" text,
	"input_tokens" integer NOT NULL,
	"output_tokens" integer NOT NULL,
	"estimated" boolean NOT NULL,
	"cost_usd" double precision NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_records_source" CHECK ("usage_records"."source" in ('execution', 'interrupted', 'agent'))
);
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_id" uuid NOT NULL,
	"event" text NOT NULL,
	"payload" text NOT NULL,
	"request_id" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"previous_attempt_at" timestamp (3) with time zone,
	"claim_token" uuid,
	"lease_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "deliveries_status" CHECK ("deliveries"."status" in ('pending', 'sending', 'delivered', 'failed')),
	CONSTRAINT "deliveries_next_while_pending" CHECK (("deliveries"."status" = 'pending') = ("deliveries"."next_attempt_at" is not null)),
	CONSTRAINT "deliveries_lease_while_sending" CHECK (("deliveries"."status" = 'sending') = ("deliveries"."claim_token" is not null))
);
CREATE TABLE "delivery_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"delivery_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"event" text NOT NULL,
	"url" text NOT NULL,
	"attempt" integer NOT NULL,
	"success" boolean NOT NULL,
	"status_code" integer,
	"error" text,
	"response_time_ms" integer NOT NULL,
	"attempted_at" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"url" text NOT NULL,
	"secret_sealed" text NOT NULL,
	"secret_lookup" text NOT NULL,
	"previous_secret_sealed" text,
	"previous_secret_until" timestamp (3) with time zone,
	"events" text[] NOT NULL,
	"description" text,
	"status" text DEFAULT 'active' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhooks_secret_lookup_unique" UNIQUE("secret_lookup"),
	CONSTRAINT "webhooks_status" CHECK ("webhooks"."status" in ('active', 'inactive', 'failed'))
);
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_coupon_id_coupons_id_fk" FOREIGN KEY ("coupon_id") REFERENCES "public"."coupons"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "executions" ADD CONSTRAINT "executions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "executions" ADD CONSTRAINT "executions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "executions" ADD CONSTRAINT "executions_retry_of_id_executions_id_fk" FOREIGN KEY ("retry_of_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;
ALTER TABLE "rate_hits" ADD CONSTRAINT "rate_hits_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "usage_alert_firings" ADD CONSTRAINT "usage_alert_firings_alert_id_usage_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."usage_alerts"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "usage_alerts" ADD CONSTRAINT "usage_alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "usage_counters" ADD CONSTRAINT "usage_counters_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");
CREATE INDEX "password_resets_user" ON "password_resets" USING btree ("user_id");
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id","created_at");
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree (lower("email"));
CREATE UNIQUE INDEX "coupons_code_key" ON "coupons" USING btree (upper("code"));
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions" USING btree ("task_id","planned_for") WHERE "executions"."planned_for" is not null and "executions"."trigger" = 'schedule';
CREATE UNIQUE INDEX "executions_one_retry" ON "executions" USING btree ("retry_of_id") WHERE "executions"."trigger" = 'retry';
CREATE INDEX "executions_queued" ON "executions" USING btree ("user_id","run_at","id") WHERE "executions"."status" = 'pending' and "executions"."queued_at" is not null;
CREATE INDEX "executions_waiting" ON "executions" USING btree ("run_at") WHERE "executions"."status" = 'pending' and "executions"."queued_at" is null;
CREATE INDEX "executions_running" ON "executions" USING btree ("user_id","lease_until") WHERE "executions"."status" = 'running';
CREATE UNIQUE INDEX "executions_one_running" ON "executions" USING btree ("task_id") WHERE "executions"."status" = 'running';
CREATE INDEX "executions_live" ON "executions" USING btree ("task_id") WHERE "executions"."status" in ('pending', 'running');
CREATE INDEX "executions_of_user" ON "executions" USING btree ("user_id","id");
CREATE INDEX "executions_of_task" ON "executions" USING btree ("task_id","id");
CREATE INDEX "rate_windows_end" ON "rate_windows" USING btree ("ends_at");
CREATE INDEX "mails_due" ON "mails" USING btree ("next_attempt_at") WHERE "mails"."next_attempt_at" is not null;
CREATE INDEX "notifications_of_user" ON "notifications" USING btree ("user_id","id");
CREATE INDEX "audit_log_of_user" ON "audit_log" USING btree ("user_id","id");
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_execution_at") WHERE "tasks"."next_execution_at" is not null;
CREATE INDEX "tasks_of_user" ON "tasks" USING btree ("user_id","id");
CREATE INDEX "tasks_active_of_user" ON "tasks" USING btree ("user_id") WHERE "tasks"."status" = 'active';
CREATE INDEX "uploads_of_user" ON "uploads" USING btree ("user_id");
CREATE INDEX "uploads_url" ON "uploads" USING btree ("user_id",md5("url"));
CREATE INDEX "usage_records_of_user" ON "usage_records" USING btree ("user_id","day");
CREATE INDEX "usage_records_of_execution" ON "usage_records" USING btree ("execution_id");
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "deliveries"."status" = 'pending';
CREATE INDEX "deliveries_next" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'pending';
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("webhook_id","lease_until") WHERE "deliveries"."status" = 'sending';
CREATE INDEX "deliveries_of_webhook" ON "deliveries" USING btree ("webhook_id","created_at");
CREATE INDEX "delivery_attempts_of_webhook" ON "delivery_attempts" USING btree ("webhook_id","attempted_at");
CREATE INDEX "delivery_attempts_of_delivery" ON "delivery_attempts" USING btree ("delivery_id");
CREATE INDEX "webhooks_of_user" ON "webhooks" USING btree ("user_id");
INSERT INTO "settings" ("id") VALUES (1);
-- What a database of the first schema may hold: each table, each state of a run and of a delivery.
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
insert into executions (task_id, user_id, status, trigger, planned_for, run_at, started_at, completed_at, result, error_code, error,
  input_tokens, output_tokens, usage_day, created_at) values
  (1, 1, 'completed', 'schedule', '2026-10-31 08:00Z', now(), now(), now(), 'Good.', null, null, 10, 5, '2026-10-31', now()),
  (1, 1, 'failed', 'schedule', '2026-11-01 08:00Z', now(), now(), now(), null, 'TIMEOUT', 'Too slow.', 10, 0, '2026-11-01', now()),
  (2, 1, 'failed', 'schedule', '2026-10-01 08:00Z', now(), null, '2026-10-01 08:00Z', null, 'QUOTA_EXCEEDED', 'Used up.', null, null, null, now());
insert into executions (task_id, user_id, status, trigger, attempt, retry_of_id, run_at, usage_day, created_at) values
  (1, 1, 'pending', 'retry', 2, 2, now() + interval '1 minute', '2026-11-01', now());
insert into executions (task_id, user_id, status, trigger, run_at, queued_at, started_at, claim_token, lease_until, usage_day,
  tokens_reserved, created_at) values
  (3, 2, 'running', 'manual', now(), now(), now(), '00000000-0000-4000-8000-000000000002', now(), '2026-11-01', 100, now());
insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens, estimated, cost_usd, created_at) values
  (1, 1, 'execution', '2026-10-31', 1, 'm', 10, 5, false, 0.01, now()), (1, 2, 'execution', '2026-11-01', 1, 'm', 10, 0, true, 0, now());
insert into usage_counters (user_id, period, executions, tokens, tokens_reserved) values
  (1, '2026-10-01', 0, 0, 0), (1, '2026-10-31', 1, 15, 0), (1, '2026-10', 1, 15, 0), (1, '2026-11-01', 2, 10, 0), (1, '2026-11', 2, 10, 0),
  (2, '2026-11-01', 1, 0, 100), (2, '2026-11', 1, 0, 100);
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
insert into webhooks (id, user_id, url, secret_sealed, secret_lookup, events, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000005', 1, 'https://example.com/hook', 'sealed', 'lookup', '{task.completed}', now(), now());
insert into deliveries (id, webhook_id, event, payload, request_id, status, attempt, next_attempt_at, claim_token, lease_until, created_at) values
  ('00000000-0000-4000-8000-000000000006', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'pending', 1, now(), null, null, now()),
  ('00000000-0000-4000-8000-000000000007', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'sending', 0, null, '00000000-0000-4000-8000-000000000008', now(), now()),
  ('00000000-0000-4000-8000-000000000009', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'delivered', 1, null, null, null, now()),
  ('00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000005', 'task.completed', '{}', 'r', 'failed', 5, null, null, null, now());
insert into delivery_attempts values ('00000000-0000-4000-8000-00000000000b', '00000000-0000-4000-8000-000000000009',
  '00000000-0000-4000-8000-000000000005', 'task.completed', 'https://example.com/hook', 1, true, 200, null, 12, now());
insert into mails (id, recipient, subject, body_sealed, next_attempt_at, sent_at, failed_at, created_at) values
  ('00000000-0000-4000-8000-00000000000c', 'alice@example.com', 'Waits', 'sealed', now(), null, null, now()),
  ('00000000-0000-4000-8000-00000000000d', 'alice@example.com', 'Sent', 'sealed', null, now(), null, now()),
  ('00000000-0000-4000-8000-00000000000e', 'alice@example.com', 'Given up', 'sealed', null, null, now(), now());
ALTER TABLE "users" ADD COLUMN "email_verified_at" timestamp (3) with time zone;
-- A counter is updated at every request: with room on its page the new version stays there, and no index is touched.
ALTER TABLE "rate_windows" SET (fillfactor = 50);
ALTER TABLE "mails" ALTER COLUMN "body_sealed" DROP NOT NULL;
ALTER TABLE "mails" ADD COLUMN "kind" text DEFAULT 'message' NOT NULL;
ALTER TABLE "mails" ADD COLUMN "user_id" integer;
ALTER TABLE "mails" ADD CONSTRAINT "mails_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "mails_reset" ON "mails" USING btree ("recipient","created_at") WHERE "mails"."kind" = 'password_reset';
CREATE INDEX "mails_user" ON "mails" USING btree ("user_id") WHERE "mails"."user_id" is not null;
ALTER TABLE "mails" ADD CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('message', 'password_reset'));
UPDATE "mails" SET "body_sealed" = NULL WHERE "next_attempt_at" IS NULL;
ALTER TABLE "mails" ADD CONSTRAINT "mails_ended" CHECK (("mails"."next_attempt_at" is null) = (num_nonnulls("mails"."sent_at", "mails"."failed_at") = 1));
ALTER TABLE "mails" ADD CONSTRAINT "mails_body" CHECK (("mails"."body_sealed" is not null) = ("mails"."kind" = 'message' and "mails"."next_attempt_at" is not null));
insert into mails (id, kind, recipient, subject, next_attempt_at, created_at) values
  ('00000000-0000-4000-8000-00000000000f', 'password_reset', 'bob@example.com', 'Reset', now(), now());
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_storage" CHECK ("uploads"."storage" in ('blob', 'base64'));
DROP INDEX "deliveries_due";
DROP INDEX "deliveries_next";
ALTER TABLE "executions" ADD COLUMN "via_webhook" boolean DEFAULT false NOT NULL;
ALTER TABLE "deliveries" ADD COLUMN "queued_at" timestamp (3) with time zone;
ALTER TABLE "deliveries" ADD COLUMN "ended_at" timestamp (3) with time zone;
ALTER TABLE "webhooks" ADD COLUMN "last_attempt_ok" boolean;
ALTER TABLE "webhooks" ADD COLUMN "window_ends_at" timestamp (3) with time zone;
ALTER TABLE "webhooks" ADD COLUMN "window_count" integer DEFAULT 0 NOT NULL;
CREATE INDEX "deliveries_queued" ON "deliveries" USING btree ("webhook_id","attempt" DESC NULLS LAST,"next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is not null;
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is null;
CREATE INDEX "deliveries_failed" ON "deliveries" USING btree ("ended_at") WHERE "deliveries"."status" = 'failed';
UPDATE "deliveries" SET "ended_at" = "created_at" WHERE "status" IN ('delivered', 'failed');
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_queued_while_pending" CHECK ("deliveries"."queued_at" is null or "deliveries"."status" = 'pending');
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_ended" CHECK (("deliveries"."status" in ('delivered', 'failed')) = ("deliveries"."ended_at" is not null));
insert into executions (task_id, user_id, status, trigger, via_webhook, run_at, queued_at, usage_day, created_at) values
  (3, 2, 'pending', 'inbound', true, now(), now(), '2026-11-01', now());
update usage_counters set executions = executions + 1 where user_id = 2;
insert into deliveries (id, webhook_id, event, payload, request_id, status, attempt, next_attempt_at, queued_at, ended_at, created_at) values
  ('00000000-0000-4000-8000-000000000010', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'pending', 0, now(), now(), null, now()),
  ('00000000-0000-4000-8000-000000000011', '00000000-0000-4000-8000-000000000005', 'task.failed', '{}', 'r', 'failed', 5, null, null, now(), now());
CREATE INDEX "executions_retry_of" ON "executions" USING btree ("retry_of_id") WHERE "executions"."retry_of_id" is not null;
CREATE INDEX "audit_log_of_actor" ON "audit_log" USING btree ("actor_id","id");
CREATE INDEX "audit_log_of_kind" ON "audit_log" USING btree ("kind","id");
ALTER TABLE "usage_counters" ADD COLUMN "completed" integer DEFAULT 0 NOT NULL;
ALTER TABLE "usage_counters" ADD COLUMN "failed" integer DEFAULT 0 NOT NULL;
CREATE INDEX "usage_counters_months" ON "usage_counters" USING btree ("user_id") WHERE length("usage_counters"."period") = 7;
CREATE INDEX "usage_counters_days" ON "usage_counters" USING btree ("period") WHERE length("usage_counters"."period") = 10;
INSERT INTO "usage_counters" ("user_id", "period", "completed", "failed")
SELECT e."user_id", p."period", count(*) FILTER (WHERE e."status" = 'completed'), count(*) FILTER (WHERE e."status" = 'failed')
FROM "executions" e
CROSS JOIN LATERAL (SELECT coalesce(e."usage_day", (e."completed_at" AT TIME ZONE 'UTC')::date)::text AS "day") d
CROSS JOIN LATERAL (VALUES (d."day"), (left(d."day", 7))) p("period")
WHERE e."status" IN ('completed', 'failed')
GROUP BY 1, 2
ON CONFLICT ("user_id", "period") DO UPDATE SET "completed" = excluded."completed", "failed" = excluded."failed";
insert into executions (task_id, user_id, status, trigger, run_at, started_at, completed_at, result, input_tokens, output_tokens, usage_day, created_at) values
  (3, 2, 'completed', 'manual', now(), now(), now(), 'Good.', 1, 1, '2026-11-01', now());
insert into usage_records (user_id, execution_id, source, day, executions, model, input_tokens, output_tokens, estimated, cost_usd, created_at)
  select 2, max(id), 'execution', '2026-11-01', 1, 'm', 1, 1, false, 0, now() from executions;
update usage_counters set executions = executions + 1, tokens = tokens + 2, completed = completed + 1 where user_id = 2;
CREATE TABLE "loose_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"user_id" integer,
	"delete_after" timestamp (3) with time zone NOT NULL
);
CREATE TABLE "upload_totals" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"files" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "upload_totals_not_negative" CHECK ("upload_totals"."bytes" >= 0 and "upload_totals"."files" >= 0)
);
CREATE TABLE "agent_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"day" date NOT NULL,
	"model" text NOT NULL,
	"input_tokens" integer NOT NULL,
	"tokens_reserved" integer NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
DROP INDEX "uploads_url";
ALTER TABLE "executions" ADD COLUMN "interrupted_at" timestamp (3) with time zone[];
ALTER TABLE "webhooks" ADD COLUMN "purpose" text DEFAULT 'subscription' NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "task_id" integer;
ALTER TABLE "loose_objects" ADD CONSTRAINT "loose_objects_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;
ALTER TABLE "upload_totals" ADD CONSTRAINT "upload_totals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "agent_calls" ADD CONSTRAINT "agent_calls_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "loose_objects_due" ON "loose_objects" USING btree ("delete_after");
CREATE INDEX "loose_objects_of_user" ON "loose_objects" USING btree ("user_id") WHERE "loose_objects"."user_id" is not null;
CREATE INDEX "agent_calls_lease" ON "agent_calls" USING btree ("lease_until");
CREATE INDEX "agent_calls_of_user" ON "agent_calls" USING btree ("user_id");
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "tasks_attachments" ON "tasks" USING gin ("attachment_ids") WHERE "tasks"."attachment_ids" <> '{}';
CREATE INDEX "uploads_by_url" ON "uploads" USING btree (md5("url"));
CREATE UNIQUE INDEX "uploads_storage_key" ON "uploads" USING btree ("storage_key");
CREATE UNIQUE INDEX "webhooks_one_of_task" ON "webhooks" USING btree ("task_id");
CREATE UNIQUE INDEX "webhooks_one_of_account" ON "webhooks" USING btree ("user_id") WHERE "webhooks"."purpose" = 'account';
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_key_of_blob" CHECK (("uploads"."storage" = 'blob') = ("uploads"."storage_key" is not null));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_purpose" CHECK ("webhooks"."purpose" in ('subscription', 'task', 'account'));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_task" CHECK (("webhooks"."purpose" = 'task') = ("webhooks"."task_id" is not null));
INSERT INTO "upload_totals" ("user_id", "bytes", "files")
SELECT "user_id", sum("size"), count(*) FROM "uploads" GROUP BY "user_id";
insert into upload_totals values (2, 0, 0);
insert into loose_objects values ('loose', 2, now());
insert into agent_calls values ('00000000-0000-4000-8000-000000000012', 2, '2026-11-01', 'm', 5, 100, now(), now());
update usage_counters set executions = executions + 1, tokens_reserved = tokens_reserved + 100 where user_id = 2;
insert into webhooks (id, user_id, purpose, task_id, url, secret_sealed, secret_lookup, events, created_at, updated_at) values
  ('00000000-0000-4000-8000-000000000013', 1, 'task', 1, 'https://example.com/task', 'sealed', 'other', '{execution.completed}', now(), now());
DROP INDEX "executions_running";
DROP INDEX "executions_live";
CREATE INDEX "executions_running" ON "executions" USING btree ("user_id") WHERE "executions"."status" = 'running';
CREATE INDEX "executions_live" ON "executions" USING btree ("user_id","task_id") WHERE "executions"."status" in ('pending', 'running');
-- Rows that are updated far more often than they are made: with room on its page the new version stays there, and no
-- index is touched.
ALTER TABLE "tasks" SET (fillfactor = 80);
ALTER TABLE "usage_counters" SET (fillfactor = 60);
ALTER TABLE "webhooks" SET (fillfactor = 60);
-- Triggers, so that the count is right whoever writes: a process of the version before, too, which knows nothing of it.
-- They come first, in the order in which most transactions lock the two tables, and hold up who writes tasks until the
-- tasks there are have been counted.
CREATE FUNCTION "public"."count_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "public"."users" u SET "task_count" = u."task_count" + c."change"
  FROM (
    SELECT "user_id", CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END AS "change" FROM "changed" GROUP BY "user_id"
  ) c
  WHERE u."id" = c."user_id";
  RETURN NULL;
END $$;
CREATE TRIGGER "tasks_made" AFTER INSERT ON "tasks" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();
CREATE TRIGGER "tasks_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();
ALTER TABLE "users" ADD COLUMN "task_count" integer DEFAULT 0 NOT NULL;
UPDATE "users" u SET "task_count" = c."count" FROM (SELECT "user_id", count(*) AS "count" FROM "tasks" GROUP BY "user_id") c WHERE u."id" = c."user_id";
DROP INDEX "tasks_due";
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_execution_at","user_id") WHERE "tasks"."next_execution_at" is not null;
update users set notification_emails = '{team@example.com,ops@example.com}' where id = 1;
update tasks set notification_email = 'ops@example.com' where id = 1;
CREATE TABLE "email_changes" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"step" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "email_changes_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "email_changes_step" CHECK ("email_changes"."step" in ('approve', 'confirm'))
);
CREATE TABLE "notification_addresses" (
	"user_id" integer NOT NULL,
	"email" text NOT NULL,
	"token_hash" text,
	"expires_at" timestamp (3) with time zone,
	"confirmed_at" timestamp (3) with time zone,
	CONSTRAINT "notification_addresses_user_id_email_pk" PRIMARY KEY("user_id","email"),
	CONSTRAINT "notification_addresses_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "notification_addresses_link" CHECK (("notification_addresses"."token_hash" is null) = ("notification_addresses"."expires_at" is null)),
	CONSTRAINT "notification_addresses_confirmed" CHECK ("notification_addresses"."confirmed_at" is null or "notification_addresses"."token_hash" is null)
);
ALTER TABLE "email_changes" ADD CONSTRAINT "email_changes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "notification_addresses" ADD CONSTRAINT "notification_addresses_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
-- Addresses that get mail already go on getting it. A process of the version before writes none here: those that it saves
-- in the meantime are confirmed when they are saved again.
INSERT INTO "notification_addresses" ("user_id", "email", "confirmed_at")
SELECT "id", unnest("notification_emails"), "created_at" FROM "users"
UNION
SELECT t."user_id", t."notification_email", u."created_at" FROM "tasks" t JOIN "users" u ON u."id" = t."user_id"
WHERE t."notification_email" IS NOT NULL
ON CONFLICT DO NOTHING;
insert into email_changes values (1, 'new@example.com', 'confirm', repeat('a', 64), now());
insert into notification_addresses values (2, 'team@example.com', repeat('b', 64), now(), null);
-- Triggers, so that a revision changes with its row whoever writes: a process of the version before, too, which knows
-- nothing of it. No table is rewritten; the locks last for the moment of the migration.
ALTER TABLE "tasks" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;
ALTER TABLE "users" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;
CREATE FUNCTION "public"."increase_revision"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."revision" := OLD."revision" + 1;
  RETURN NEW;
END $$;
-- Comparing prompts would read all of them at each run, and only changes by the owner set these columns.
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
-- Each run sets these, often to what they are.
CREATE TRIGGER "tasks_run" BEFORE UPDATE OF "next_execution_at", "status", "execution_count", "last_execution_at"
ON "tasks" FOR EACH ROW
WHEN ((OLD."next_execution_at", OLD."status", OLD."execution_count", OLD."last_execution_at")
  IS DISTINCT FROM (NEW."next_execution_at", NEW."status", NEW."execution_count", NEW."last_execution_at"))
EXECUTE FUNCTION "public"."increase_revision"();
CREATE TRIGGER "users_changed" BEFORE UPDATE OF "identity_user_id", "email", "name", "role", "plan", "timezone", "is_active",
  "trial_ends_at", "provider_key_sealed", "notify_email", "notify_webhook", "notification_emails", "notification_url",
  "created_at", "updated_at"
ON "users" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
CREATE TRIGGER "webhooks_changed" BEFORE UPDATE OF "user_id", "purpose", "task_id", "url", "events", "description", "status",
  "created_at"
ON "webhooks" FOR EACH ROW
WHEN ((OLD."user_id", OLD."purpose", OLD."task_id", OLD."url", OLD."events", OLD."description", OLD."status", OLD."created_at")
  IS DISTINCT FROM (NEW."user_id", NEW."purpose", NEW."task_id", NEW."url", NEW."events", NEW."description", NEW."status",
    NEW."created_at"))
EXECUTE FUNCTION "public"."increase_revision"();
CREATE TABLE "api_key_usage" (
	"key_id" uuid NOT NULL,
	"period" text NOT NULL,
	"requests" integer NOT NULL,
	CONSTRAINT "api_key_usage_key_id_period_pk" PRIMARY KEY("key_id","period")
);
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"secret_hash" text NOT NULL,
	"scopes" text[] NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "api_keys_secret_hash_unique" UNIQUE("secret_hash")
);
ALTER TABLE "api_key_usage" ADD CONSTRAINT "api_key_usage_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "api_keys_user" ON "api_keys" USING btree ("user_id","created_at");
insert into api_keys values ('00000000-0000-4000-8000-000000000003', 1, 'Report', 'crl_00000000', repeat('c', 64), array['tasks:read'], null, now(), now());
insert into api_key_usage values ('00000000-0000-4000-8000-000000000003', '2026-11', 7);
CREATE TABLE "idempotency_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"claim_token" uuid NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"backend_pid" integer,
	"status" smallint,
	"location" text,
	"answer_sealed" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_answer" CHECK (("idempotency_keys"."status" is null) = ("idempotency_keys"."answer_sealed" is null))
);
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "idempotency_keys_user" ON "idempotency_keys" USING btree ("user_id");
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");
insert into idempotency_keys values (
  '1:' || repeat('a', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', 1, 201, '/api/tasks/1', 'sealed', now() + interval '1 day'
);
insert into idempotency_keys values (
  '1:' || repeat('b', 64), 1, gen_random_uuid(), now(), now() + interval '30 s', null, null, null, null, now() + interval '1 day'
);
CREATE TABLE "event_positions" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"last_id" bigint NOT NULL
);
CREATE UNLOGGED TABLE "event_streams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"session_id" uuid,
	"api_key_id" uuid,
	"lease_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_streams_caller" CHECK (num_nonnulls("event_streams"."session_id", "event_streams"."api_key_id") = 1)
);
CREATE TABLE "events" (
	"user_id" integer NOT NULL,
	"id" bigint NOT NULL,
	"event" text NOT NULL,
	"task_id" integer,
	"data" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "events_user_id_id_pk" PRIMARY KEY("user_id","id")
);
ALTER TABLE "event_positions" ADD CONSTRAINT "event_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "event_streams" ADD CONSTRAINT "event_streams_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "event_streams_of_user" ON "event_streams" USING btree ("user_id");
insert into event_positions values (1, 2);
insert into events values (1, 1, 'task.created', 1, '{"task":{"id":1}}', now()), (1, 2, 'usage.alert', null, '{}', now());
insert into event_streams values
  ('00000000-0000-4000-8000-000000000017', 1, '00000000-0000-4000-8000-000000000016', null, now());
ALTER TABLE "events" RENAME COLUMN "event" TO "kinds";
ALTER TABLE "events" ALTER COLUMN "kinds" SET DATA TYPE text[] USING ARRAY["kinds"];
ALTER TABLE "usage_counters" ADD COLUMN "cost_usd" double precision DEFAULT 0 NOT NULL;
CREATE INDEX "tasks_failing" ON "tasks" USING btree ("user_id","id") WHERE "tasks"."consecutive_failures" > 0;
UPDATE "usage_counters" c SET "cost_usd" = r."cost" FROM (
	SELECT "user_id", p."period", sum("cost_usd") AS "cost"
	FROM "usage_records" CROSS JOIN LATERAL (VALUES (to_char("day", 'YYYY-MM-DD')), (to_char("day", 'YYYY-MM'))) p("period")
	WHERE "cost_usd" <> 0 GROUP BY "user_id", p."period"
) r WHERE r."user_id" = c."user_id" AND r."period" = c."period";
CREATE INDEX "notifications_unread" ON "notifications" USING btree ("user_id") WHERE "notifications"."read_at" is null;
CREATE INDEX "tasks_by_next_run" ON "tasks" USING btree ("user_id",coalesce("next_execution_at", 'infinity'),"id");
CREATE INDEX "tasks_by_name" ON "tasks" USING btree ("user_id",lower("name"),"id");
ALTER TABLE "sessions" ADD COLUMN "confirmed_at" timestamp (3) with time zone;
DROP INDEX "uploads_of_user";
CREATE INDEX "uploads_by_age" ON "uploads" USING btree ("user_id","uploaded_at","id");
DROP INDEX "mails_user";
CREATE INDEX "mails_of_user" ON "mails" USING btree ("user_id","created_at") WHERE "mails"."user_id" is not null;
DROP INDEX "notifications_unread";
DROP INDEX "webhooks_of_user";
CREATE INDEX "notifications_unread" ON "notifications" USING btree ("user_id","id") WHERE "notifications"."read_at" is null;
CREATE INDEX "webhooks_of_user" ON "webhooks" USING btree ("user_id","created_at","id");
CREATE TABLE "alerts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "alerts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"task_id" integer NOT NULL,
	"kind" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"execution_id" integer,
	"title" text NOT NULL,
	"message" text NOT NULL,
	"data" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "alerts_once" UNIQUE("task_id","kind","at"),
	CONSTRAINT "alerts_kind" CHECK ("alerts"."kind" in ('task.overdue', 'task.failing', 'task.recovered', 'task.expensive', 'task.slow'))
);
CREATE TABLE "scheduler_state" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"last_called_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"silent_since" timestamp (3) with time zone,
	CONSTRAINT "scheduler_state_one_row" CHECK ("scheduler_state"."id" = 1)
);
ALTER TABLE "executions" DROP CONSTRAINT "executions_trigger";
ALTER TABLE "executions" DROP CONSTRAINT "executions_error_code";
ALTER TABLE "occurrences" DROP CONSTRAINT "occurrences_fate";
DROP INDEX "executions_one_per_occurrence";
ALTER TABLE "executions" ADD COLUMN "request" json;
ALTER TABLE "executions" ADD COLUMN "inbound_data" json;
ALTER TABLE "executions" ADD COLUMN "output" json;
ALTER TABLE "executions" ADD COLUMN "changed" boolean;
ALTER TABLE "executions" ADD COLUMN "changes" json;
ALTER TABLE "executions" ADD COLUMN "compared_with_id" integer;
ALTER TABLE "mails" ADD COLUMN "alert_id" integer;
ALTER TABLE "tasks" ADD COLUMN "context" json DEFAULT '{"clock":true,"previousResult":false}'::json NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "output_schema" json;
ALTER TABLE "tasks" ADD COLUMN "notify" text DEFAULT 'always' NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "watch" text[] DEFAULT '{}' NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "missed" text DEFAULT 'latest' NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "overlap" text DEFAULT 'skip' NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "ends_at" timestamp (3) with time zone;
ALTER TABLE "tasks" ADD COLUMN "max_runs" integer;
ALTER TABLE "tasks" ADD COLUMN "paused_until" timestamp (3) with time zone;
ALTER TABLE "tasks" ADD COLUMN "timeout_ms" integer;
ALTER TABLE "tasks" ADD COLUMN "monthly_budget_usd" double precision;
ALTER TABLE "tasks" ADD COLUMN "max_retries" integer DEFAULT 3 NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "alerts" json;
ALTER TABLE "tasks" ADD COLUMN "planned_runs" integer DEFAULT 0 NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "last_success_id" integer;
ALTER TABLE "tasks" ADD COLUMN "last_success_at" timestamp (3) with time zone;
ALTER TABLE "tasks" ADD COLUMN "last_success_digest" text;
ALTER TABLE "tasks" ADD COLUMN "cost_month" text;
ALTER TABLE "tasks" ADD COLUMN "month_cost_usd" double precision DEFAULT 0 NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "overdue_at" timestamp (3) with time zone;
ALTER TABLE "tasks" ADD COLUMN "alerting_since" timestamp (3) with time zone;
ALTER TABLE "deliveries" ADD COLUMN "alert_id" integer;
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;
CREATE INDEX "alerts_of_user" ON "alerts" USING btree ("user_id","id");
CREATE INDEX "alerts_of_execution" ON "alerts" USING btree ("execution_id") WHERE "alerts"."execution_id" is not null;
ALTER TABLE "mails" ADD CONSTRAINT "mails_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;
CREATE INDEX "mails_of_alert" ON "mails" USING btree ("alert_id") WHERE "mails"."alert_id" is not null;
CREATE INDEX "tasks_overdue" ON "tasks" USING btree ("overdue_at") WHERE "tasks"."overdue_at" is not null;
CREATE INDEX "deliveries_of_alert" ON "deliveries" USING btree ("alert_id") WHERE "deliveries"."alert_id" is not null;
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions" USING btree ("task_id","planned_for") WHERE "executions"."planned_for" is not null and "executions"."trigger" in ('schedule', 'backfill');
ALTER TABLE "executions" ADD CONSTRAINT "executions_trigger" CHECK ("executions"."trigger" in ('schedule', 'manual', 'inbound', 'retry', 'backfill'));
ALTER TABLE "executions" ADD CONSTRAINT "executions_error_code" CHECK ("executions"."error_code" in ('RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'PROVIDER_UNAVAILABLE', 'PROVIDER_ERROR', 'AUTHENTICATION_FAILED', 'INVALID_REQUEST', 'CONTENT_FILTERED', 'QUOTA_EXCEEDED', 'INTERRUPTED', 'INVALID_OUTPUT', 'CANCELLED'));
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_fate" CHECK ("occurrences"."fate" in ('ran', 'late', 'skipped_overlap', 'skipped_by_user', 'missed', 'over_quota', 'over_budget', 'cancelled'));
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_notify" CHECK ("tasks"."notify" in ('always', 'change', 'failure'));
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_missed" CHECK ("tasks"."missed" in ('latest', 'none', 'all'));
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_overlap" CHECK ("tasks"."overlap" in ('skip', 'queue', 'cancel'));
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_max_retries" CHECK ("tasks"."max_retries" between 0 and 3);
INSERT INTO "scheduler_state" DEFAULT VALUES;
UPDATE "webhooks" SET "events" = "events" || '{task.overdue,task.failing,task.recovered,task.expensive,task.slow}'::text[]
WHERE "purpose" = 'task';
DROP TRIGGER "tasks_changed" ON "tasks";
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
CREATE TABLE "feeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"task_id" integer,
	"secret_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "feeds_secret_hash_unique" UNIQUE("secret_hash")
);
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_status";
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_next_while_pending";
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_ended";
ALTER TABLE "webhooks" DROP CONSTRAINT "webhooks_purpose";
ALTER TABLE "tasks" ADD COLUMN "channels" uuid[] DEFAULT '{}' NOT NULL;
ALTER TABLE "deliveries" ADD COLUMN "digest_id" uuid;
ALTER TABLE "webhooks" ADD COLUMN "kind" text DEFAULT 'webhook' NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "name" text;
ALTER TABLE "webhooks" ADD COLUMN "shown_settings" json;
ALTER TABLE "webhooks" ADD COLUMN "is_for_account" boolean DEFAULT false NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "quiet" json;
ALTER TABLE "webhooks" ADD COLUMN "urgent" boolean DEFAULT false NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "min_interval_minutes" integer;
ALTER TABLE "webhooks" ADD COLUMN "digest" text DEFAULT 'off' NOT NULL;
ALTER TABLE "webhooks" ADD COLUMN "digest_hour" integer;
ALTER TABLE "webhooks" ADD COLUMN "digest_timezone" text;
ALTER TABLE "webhooks" ADD COLUMN "last_sent_at" timestamp (3) with time zone;
ALTER TABLE "webhooks" ADD COLUMN "unsubscribe_hash" text;
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
CREATE UNIQUE INDEX "feeds_one_of_task" ON "feeds" USING btree ("task_id");
CREATE UNIQUE INDEX "feeds_one_of_account" ON "feeds" USING btree ("user_id") WHERE "feeds"."task_id" is null;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_digest_id_deliveries_id_fk" FOREIGN KEY ("digest_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'held';
CREATE INDEX "deliveries_of_digest" ON "deliveries" USING btree ("digest_id") WHERE "deliveries"."digest_id" is not null;
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_unsubscribe_hash_unique" UNIQUE("unsubscribe_hash");
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_status" CHECK ("deliveries"."status" in ('pending', 'sending', 'delivered', 'failed', 'held', 'digested'));
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_next_while_pending" CHECK (("deliveries"."status" in ('pending', 'held')) = ("deliveries"."next_attempt_at" is not null));
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_ended" CHECK (("deliveries"."status" in ('delivered', 'failed', 'digested')) = ("deliveries"."ended_at" is not null));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_kind" CHECK ("webhooks"."kind" in ('webhook', 'slack', 'mattermost', 'teams', 'discord', 'telegram', 'ntfy', 'apprise', 'email'));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_channel" CHECK (("webhooks"."purpose" = 'channel') = ("webhooks"."kind" <> 'webhook'));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_digest" CHECK ("webhooks"."digest" in ('off', 'hourly', 'daily'));
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_purpose" CHECK ("webhooks"."purpose" in ('subscription', 'task', 'account', 'channel'));
DROP TRIGGER "webhooks_changed" ON "webhooks";
CREATE TRIGGER "webhooks_changed" BEFORE UPDATE OF "user_id", "purpose", "task_id", "url", "events", "description", "status",
  "created_at", "name", "shown_settings", "is_for_account", "quiet", "urgent", "min_interval_minutes", "digest", "digest_hour",
  "digest_timezone"
ON "webhooks" FOR EACH ROW
WHEN ((OLD."user_id", OLD."purpose", OLD."task_id", OLD."url", OLD."events", OLD."description", OLD."status", OLD."created_at",
    OLD."name", OLD."shown_settings"::text, OLD."is_for_account", OLD."quiet"::text, OLD."urgent", OLD."min_interval_minutes",
    OLD."digest", OLD."digest_hour", OLD."digest_timezone")
  IS DISTINCT FROM (NEW."user_id", NEW."purpose", NEW."task_id", NEW."url", NEW."events", NEW."description", NEW."status",
    NEW."created_at", NEW."name", NEW."shown_settings"::text, NEW."is_for_account", NEW."quiet"::text, NEW."urgent",
    NEW."min_interval_minutes", NEW."digest", NEW."digest_hour", NEW."digest_timezone"))
EXECUTE FUNCTION "public"."increase_revision"();
DROP TRIGGER "tasks_changed" ON "tasks";
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
CREATE TABLE "task_proposals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"draft" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"task_id" integer
);
ALTER TABLE "executions" ADD COLUMN "citations" json;
ALTER TABLE "executions" ADD COLUMN "tool_uses" integer DEFAULT 0 NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "tools" text[] DEFAULT '{}' NOT NULL;
ALTER TABLE "tasks" ADD COLUMN "max_tool_uses" integer DEFAULT 5 NOT NULL;
ALTER TABLE "usage_records" ADD COLUMN "tool_uses" integer DEFAULT 0 NOT NULL;
ALTER TABLE "usage_records" ADD COLUMN "tool_cost_usd" double precision DEFAULT 0 NOT NULL;
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE set null ON UPDATE no action;
CREATE INDEX "task_proposals_of_user" ON "task_proposals" USING btree ("user_id");
CREATE INDEX "task_proposals_of_task" ON "task_proposals" USING btree ("task_id");
CREATE INDEX "task_proposals_expiry" ON "task_proposals" USING btree ("expires_at");
CREATE INDEX "usage_records_with_tools" ON "usage_records" USING btree ("user_id","day") WHERE "usage_records"."tool_uses" > 0;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_tools" CHECK ("tasks"."tools" <@ array['web_search', 'web_fetch']);
DROP TRIGGER "tasks_changed" ON "tasks";
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
insert into task_proposals values
  ('00000000-0000-4000-8000-000000000027', 1, '{"name":"Price"}', now(), now() + interval '1 day', null, null);
-- A filled table is prepared before, see src/partitions/online-steps.ts: attaching it reads no row then.
ALTER TABLE "executions" ADD COLUMN IF NOT EXISTS "archived" boolean;
ALTER TABLE "alerts" DROP CONSTRAINT "alerts_execution_id_executions_id_fk";
ALTER TABLE "usage_records" DROP CONSTRAINT "usage_records_execution_id_executions_id_fk";
ALTER TABLE "executions" DROP CONSTRAINT "executions_retry_of_id_executions_id_fk";
ALTER TABLE "executions" RENAME TO "executions_before";
DO $$
DECLARE
  old name;
BEGIN
  FOR old IN SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 'executions_before'::regclass
  LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO %I', old, replace(old, 'executions_', 'executions_before_'));
  END LOOP;
END $$;
CREATE TABLE "executions" (LIKE "executions_before" INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY LIST ("archived");
ALTER TABLE "executions" DROP CONSTRAINT IF EXISTS "executions_not_archived";
ALTER TABLE "executions" ALTER COLUMN "archived" SET DEFAULT false;
DO $$
DECLARE
  next_id bigint;
BEGIN
  SELECT last_value + is_called::int INTO next_id FROM executions_id_seq;
  ALTER TABLE executions_before ALTER COLUMN id DROP IDENTITY;
  EXECUTE format('ALTER TABLE executions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME executions_id_seq START WITH %s)', next_id);
END $$;
CREATE TABLE "executions_live" (LIKE "executions_before" INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
ALTER TABLE "executions_live" DROP CONSTRAINT IF EXISTS "executions_not_archived";
ALTER TABLE "executions_live" ALTER COLUMN "archived" SET DEFAULT false;
WITH "live" AS (
  DELETE FROM "executions_before" WHERE "status" IN ('pending', 'running') RETURNING *
)
INSERT INTO "executions_live" SELECT * FROM "live";
UPDATE "executions_live" SET "archived" = false;
ALTER TABLE "executions_live" ADD PRIMARY KEY ("id");
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions_live" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');
CREATE UNIQUE INDEX "executions_one_retry" ON "executions_live" USING btree ("retry_of_id") WHERE "trigger" = 'retry';
CREATE INDEX "executions_retry_of" ON "executions_live" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;
CREATE INDEX "executions_queued" ON "executions_live" USING btree ("user_id","run_at","id") WHERE "status" = 'pending' and "queued_at" is not null;
CREATE INDEX "executions_waiting" ON "executions_live" USING btree ("run_at") WHERE "status" = 'pending' and "queued_at" is null;
CREATE INDEX "executions_running" ON "executions_live" USING btree ("user_id") WHERE "status" = 'running';
CREATE UNIQUE INDEX "executions_one_running" ON "executions_live" USING btree ("task_id") WHERE "status" = 'running';
CREATE INDEX "executions_live_of_user" ON "executions_live" USING btree ("user_id","task_id") WHERE "status" in ('pending', 'running');
CREATE INDEX "executions_of_user" ON "executions_live" USING btree ("user_id","id");
CREATE INDEX "executions_of_task" ON "executions_live" USING btree ("task_id","id");
-- Runs that a process of the version before ended: the next cleanup moves them to the history.
CREATE INDEX "executions_ended_here" ON "executions_live" USING btree ("id") WHERE "status" in ('completed', 'failed');
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "executions" ATTACH PARTITION "executions_live" FOR VALUES IN (false);
ALTER TABLE "executions" ATTACH PARTITION "executions_before" FOR VALUES IN (null);
ALTER TABLE "executions_before" DROP CONSTRAINT IF EXISTS "executions_not_archived";
CREATE TABLE "executions_history" PARTITION OF "executions" FOR VALUES IN (true) PARTITION BY RANGE ("id");
-- Statements for live executions leave the history out by it.
ALTER TABLE "executions_history" ADD CONSTRAINT "executions_history_ended" CHECK ("status" IN ('completed', 'failed'));
ALTER TABLE "executions_history" ADD PRIMARY KEY ("id", "archived");
CREATE INDEX "executions_history_of_user" ON "executions_history" USING btree ("user_id","id");
CREATE INDEX "executions_history_of_task" ON "executions_history" USING btree ("task_id","id");
CREATE INDEX "executions_history_of_occurrence" ON "executions_history" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');
CREATE INDEX "executions_history_by_end" ON "executions_history" USING brin ("completed_at");
CREATE INDEX "executions_history_retry_of" ON "executions_history" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;
-- A foreign key of the history would lock "tasks" whenever a partition is dropped.
CREATE FUNCTION "delete_executions_of_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "public"."executions" WHERE "task_id" = ANY (ARRAY(SELECT "id" FROM "deleted"));
  RETURN NULL;
END $$;
CREATE TRIGGER "tasks_executions_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "deleted"
FOR EACH STATEMENT EXECUTE FUNCTION "public"."delete_executions_of_tasks"();
DO $$
DECLARE
  next_id bigint;
  first_later_id bigint;
BEGIN
  SELECT last_value INTO next_id FROM executions_id_seq;
  first_later_id := (next_id / 100000 + 2) * 100000;
  EXECUTE format('CREATE TABLE %I PARTITION OF executions_history FOR VALUES FROM (MINVALUE) TO (%s)',
    'executions_from_' || next_id, first_later_id);
  EXECUTE format('CREATE TABLE executions_later PARTITION OF executions_history FOR VALUES FROM (%s) TO (MAXVALUE)', first_later_id);
END $$;
-- Filled tables are prepared before, see src/partitions/online-steps.ts: attaching them reads no row then.
DO $$
DECLARE
  part record;
  bound text;
  next_id bigint;
  old name;
BEGIN
  FOR part IN
    SELECT * FROM (VALUES
      ('occurrences', 'planned_for', 'timestamptz', false),
      ('events', 'created_at', 'timestamptz', false),
      ('usage_records', 'day', 'date', true),
      ('audit_log', 'at', 'timestamptz', true)
    ) t(name, key, type, has_identity)
  LOOP
    SELECT (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1] INTO bound
    FROM pg_constraint WHERE conrelid = part.name::regclass AND conname = part.name || '_before_months';
    IF bound IS NULL THEN
      EXECUTE format('SELECT greatest(date_trunc(''month'', now() AT TIME ZONE ''UTC'') + interval ''2 months'',
        date_trunc(''month'', max(%I::timestamptz) AT TIME ZONE ''UTC'') + interval ''1 month'') || ''+00'' FROM %I', part.key, part.name)
      INTO bound;
    END IF;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', part.name, part.name || '_before');
    FOR old IN
      SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = (part.name || '_before')::regclass
    LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', old, regexp_replace(old, '^' || part.name, part.name || '_before'));
    END LOOP;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (%I)', part.name, part.name || '_before', part.key);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I', part.name, part.name || '_before_months');
    IF part.has_identity THEN
      EXECUTE format('SELECT last_value + is_called::int FROM %I', part.name || '_id_seq') INTO next_id;
      EXECUTE format('ALTER TABLE %I ALTER COLUMN id DROP IDENTITY', part.name || '_before');
      EXECUTE format('ALTER TABLE %I ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME %I START WITH %s)',
        part.name, part.name || '_id_seq', next_id);
    END IF;
    IF part.name = 'occurrences' THEN
      ALTER TABLE occurrences ADD CONSTRAINT occurrences_task_id_planned_for_pk PRIMARY KEY (task_id, planned_for);
      ALTER TABLE occurrences ADD CONSTRAINT occurrences_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks (id) ON DELETE CASCADE;
    ELSIF part.name = 'usage_records' THEN
      ALTER TABLE usage_records ADD CONSTRAINT usage_records_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', part.name, part.name || '_before', bound);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I', part.name || '_before', part.name || '_before_months');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part.name || '_later', part.name || '_before');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', part.name, part.name || '_later', bound);
  END LOOP;
END $$;
ALTER TABLE "event_positions" ADD COLUMN "changes" bigint DEFAULT 0 NOT NULL;
ALTER TABLE "executions" ADD COLUMN "slot" smallint;
CREATE UNIQUE INDEX "executions_slots" ON "executions_live" USING btree ("slot") WHERE "status" = 'running';
create schema drizzle;
create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
insert into drizzle.__drizzle_migrations (hash, created_at) values ('0031_slots_of_executions', 1795481295473);
