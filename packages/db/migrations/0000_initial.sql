CREATE TABLE "identities" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"provider" text NOT NULL,
	"subject" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "identities_subject" UNIQUE("provider","subject")
);
--> statement-breakpoint
CREATE TABLE "password_resets" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"user_agent" text,
	"address" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "coupon_redemptions" (
	"coupon_id" integer NOT NULL,
	"user_id" integer NOT NULL,
	"redeemed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "coupon_redemptions_coupon_id_user_id_pk" PRIMARY KEY("coupon_id","user_id")
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "rate_hits" (
	"user_id" integer NOT NULL,
	"day" date NOT NULL,
	"endpoint" text NOT NULL,
	"hits" integer NOT NULL,
	"last_hit" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "rate_hits_user_id_day_endpoint_pk" PRIMARY KEY("user_id","day","endpoint")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "rate_windows" (
	"key" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "notifications" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notifications_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"message" text NOT NULL,
	"read_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "occurrences" (
	"task_id" integer NOT NULL,
	"planned_for" timestamp (3) with time zone NOT NULL,
	"fate" text NOT NULL,
	"recorded_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "occurrences_task_id_planned_for_pk" PRIMARY KEY("task_id","planned_for"),
	CONSTRAINT "occurrences_fate" CHECK ("occurrences"."fate" in ('ran', 'late', 'skipped_overlap', 'missed', 'over_quota'))
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "usage_alert_firings" (
	"alert_id" integer NOT NULL,
	"period" text NOT NULL,
	"resource" text NOT NULL,
	"fired_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_alert_firings_alert_id_period_resource_pk" PRIMARY KEY("alert_id","period","resource")
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "usage_counters" (
	"user_id" integer NOT NULL,
	"period" text NOT NULL,
	"executions" integer DEFAULT 0 NOT NULL,
	"tokens" bigint DEFAULT 0 NOT NULL,
	"tokens_reserved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_counters_user_id_period_pk" PRIMARY KEY("user_id","period"),
	CONSTRAINT "usage_counters_not_negative" CHECK ("usage_counters"."executions" >= 0 and "usage_counters"."tokens" >= 0 and "usage_counters"."tokens_reserved" >= 0)
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_coupon_id_coupons_id_fk" FOREIGN KEY ("coupon_id") REFERENCES "public"."coupons"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_retry_of_id_executions_id_fk" FOREIGN KEY ("retry_of_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rate_hits" ADD CONSTRAINT "rate_hits_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_alert_firings" ADD CONSTRAINT "usage_alert_firings_alert_id_usage_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."usage_alerts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_alerts" ADD CONSTRAINT "usage_alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_counters" ADD CONSTRAINT "usage_counters_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "password_resets_user" ON "password_resets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "coupons_code_key" ON "coupons" USING btree (upper("code"));--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions" USING btree ("task_id","planned_for") WHERE "executions"."planned_for" is not null and "executions"."trigger" = 'schedule';--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_retry" ON "executions" USING btree ("retry_of_id") WHERE "executions"."trigger" = 'retry';--> statement-breakpoint
CREATE INDEX "executions_queued" ON "executions" USING btree ("user_id","run_at","id") WHERE "executions"."status" = 'pending' and "executions"."queued_at" is not null;--> statement-breakpoint
CREATE INDEX "executions_waiting" ON "executions" USING btree ("run_at") WHERE "executions"."status" = 'pending' and "executions"."queued_at" is null;--> statement-breakpoint
CREATE INDEX "executions_running" ON "executions" USING btree ("user_id","lease_until") WHERE "executions"."status" = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_running" ON "executions" USING btree ("task_id") WHERE "executions"."status" = 'running';--> statement-breakpoint
CREATE INDEX "executions_live" ON "executions" USING btree ("task_id") WHERE "executions"."status" in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "executions_of_user" ON "executions" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "executions_of_task" ON "executions" USING btree ("task_id","id");--> statement-breakpoint
CREATE INDEX "rate_windows_end" ON "rate_windows" USING btree ("ends_at");--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("next_attempt_at") WHERE "mails"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX "notifications_of_user" ON "notifications" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_of_user" ON "audit_log" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_execution_at") WHERE "tasks"."next_execution_at" is not null;--> statement-breakpoint
CREATE INDEX "tasks_of_user" ON "tasks" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "tasks_active_of_user" ON "tasks" USING btree ("user_id") WHERE "tasks"."status" = 'active';--> statement-breakpoint
CREATE INDEX "uploads_of_user" ON "uploads" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "uploads_url" ON "uploads" USING btree ("user_id",md5("url"));--> statement-breakpoint
CREATE INDEX "usage_records_of_user" ON "usage_records" USING btree ("user_id","day");--> statement-breakpoint
CREATE INDEX "usage_records_of_execution" ON "usage_records" USING btree ("execution_id");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_next" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("webhook_id","lease_until") WHERE "deliveries"."status" = 'sending';--> statement-breakpoint
CREATE INDEX "deliveries_of_webhook" ON "deliveries" USING btree ("webhook_id","created_at");--> statement-breakpoint
CREATE INDEX "delivery_attempts_of_webhook" ON "delivery_attempts" USING btree ("webhook_id","attempted_at");--> statement-breakpoint
CREATE INDEX "delivery_attempts_of_delivery" ON "delivery_attempts" USING btree ("delivery_id");--> statement-breakpoint
CREATE INDEX "webhooks_of_user" ON "webhooks" USING btree ("user_id");--> statement-breakpoint
INSERT INTO "settings" ("id") VALUES (1);
