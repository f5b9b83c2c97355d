CREATE TABLE "api_key_usage" (
	"key_id" uuid NOT NULL,
	"period" text NOT NULL,
	"requests" integer NOT NULL,
	CONSTRAINT "api_key_usage_key_id_period_pk" PRIMARY KEY("key_id","period")
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "email_changes" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"step" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "email_changes_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "email_changes_step" CHECK ("email_changes"."step" in ('approve', 'confirm'))
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"provider" text NOT NULL,
	"subject" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "identities_subject" UNIQUE("provider","subject")
);
--> statement-breakpoint
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
	"expires_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"identity_user_id" text NOT NULL,
	"email" text NOT NULL,
	"email_verified_at" timestamp (3) with time zone,
	"name" text NOT NULL,
	"password_hash" text,
	"role" text DEFAULT 'USER' NOT NULL,
	"plan" text DEFAULT 'trial' NOT NULL,
	"timezone" text,
	"is_active" boolean DEFAULT true NOT NULL,
	"trial_ends_at" timestamp (3) with time zone,
	"provider_key_encrypted" text,
	"notify_email" boolean DEFAULT true NOT NULL,
	"notify_webhook" boolean DEFAULT true NOT NULL,
	"notification_emails" text[] DEFAULT '{}' NOT NULL,
	"notification_url" text,
	"task_count" integer DEFAULT 0 NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_identity_user_id_unique" UNIQUE("identity_user_id"),
	CONSTRAINT "users_email_lower" CHECK ("users"."email" = lower("users"."email")),
	CONSTRAINT "users_role" CHECK ("users"."role" in ('USER', 'ADMIN')),
	CONSTRAINT "users_plan" CHECK ("users"."plan" in ('trial', 'pro'))
);
--> statement-breakpoint
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
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_id" uuid NOT NULL,
	"event" text NOT NULL,
	"payload" text NOT NULL,
	"request_id" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"queued_at" timestamp (3) with time zone,
	"previous_attempt_at" timestamp (3) with time zone,
	"claim_token" uuid,
	"lease_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"alert_id" integer,
	"digest_id" uuid,
	CONSTRAINT "deliveries_status" CHECK ("deliveries"."status" in ('pending', 'sending', 'delivered', 'failed', 'held', 'digested')),
	CONSTRAINT "deliveries_next_while_pending" CHECK (("deliveries"."status" in ('pending', 'held')) = ("deliveries"."next_attempt_at" is not null)),
	CONSTRAINT "deliveries_lease_while_sending" CHECK (("deliveries"."status" = 'sending') = ("deliveries"."claim_token" is not null)),
	CONSTRAINT "deliveries_queued_while_pending" CHECK ("deliveries"."queued_at" is null or "deliveries"."status" = 'pending'),
	CONSTRAINT "deliveries_ended" CHECK (("deliveries"."status" in ('delivered', 'failed', 'digested')) = ("deliveries"."ended_at" is not null))
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
CREATE TABLE "endpoints" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"purpose" text DEFAULT 'subscription' NOT NULL,
	"task_id" integer,
	"url" text NOT NULL,
	"secret_encrypted" text NOT NULL,
	"secret_lookup" text NOT NULL,
	"previous_secret_encrypted" text,
	"previous_secret_until" timestamp (3) with time zone,
	"events" text[] NOT NULL,
	"description" text,
	"status" text DEFAULT 'active' NOT NULL,
	"last_attempt_ok" boolean,
	"window_ends_at" timestamp (3) with time zone,
	"window_count" integer DEFAULT 0 NOT NULL,
	"kind" text DEFAULT 'webhook' NOT NULL,
	"name" text,
	"shown_settings" json,
	"is_for_account" boolean DEFAULT false NOT NULL,
	"quiet" json,
	"urgent" boolean DEFAULT false NOT NULL,
	"min_interval_minutes" integer,
	"digest" text DEFAULT 'off' NOT NULL,
	"digest_hour" integer,
	"digest_timezone" text,
	"last_sent_at" timestamp (3) with time zone,
	"unsubscribe_hash" text,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "endpoints_secret_lookup_unique" UNIQUE("secret_lookup"),
	CONSTRAINT "endpoints_unsubscribe_hash_unique" UNIQUE("unsubscribe_hash"),
	CONSTRAINT "endpoints_kind" CHECK ("endpoints"."kind" in ('webhook', 'slack', 'mattermost', 'teams', 'discord', 'telegram', 'ntfy', 'apprise', 'email')),
	CONSTRAINT "endpoints_channel" CHECK (("endpoints"."purpose" = 'channel') = ("endpoints"."kind" <> 'webhook')),
	CONSTRAINT "endpoints_digest" CHECK ("endpoints"."digest" in ('off', 'hourly', 'daily')),
	CONSTRAINT "endpoints_purpose" CHECK ("endpoints"."purpose" in ('subscription', 'task', 'account', 'channel')),
	CONSTRAINT "endpoints_task" CHECK (("endpoints"."purpose" = 'task') = ("endpoints"."task_id" is not null)),
	CONSTRAINT "endpoints_status" CHECK ("endpoints"."status" in ('active', 'inactive', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "event_positions" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"last_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "event_streams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"session_id" uuid,
	"api_key_id" uuid,
	"lease_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_streams_caller" CHECK (num_nonnulls("event_streams"."session_id", "event_streams"."api_key_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "events" (
	"user_id" integer NOT NULL,
	"id" bigint NOT NULL,
	"kinds" text[] NOT NULL,
	"task_id" integer,
	"data" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "executions" (
	"id" integer GENERATED ALWAYS AS IDENTITY (sequence name "executions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"task_id" integer NOT NULL,
	"user_id" integer NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"via_webhook" boolean DEFAULT false NOT NULL,
	"planned_for" timestamp (3) with time zone,
	"attempt" integer DEFAULT 1 NOT NULL,
	"retry_of_id" integer,
	"run_at" timestamp (3) with time zone NOT NULL,
	"queued_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"slot" smallint,
	"claim_token" uuid,
	"lease_until" timestamp (3) with time zone,
	"interruptions" integer DEFAULT 0 NOT NULL,
	"interrupted_at" timestamp (3) with time zone[],
	"request" json,
	"inbound_data" json,
	"result" text,
	"output" json,
	"changed" boolean,
	"changes" json,
	"compared_with_id" integer,
	"citations" json,
	"tool_uses" integer DEFAULT 0 NOT NULL,
	"truncated" boolean DEFAULT false NOT NULL,
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
	"archived" boolean DEFAULT false,
	CONSTRAINT "executions_status" CHECK ("executions"."status" in ('pending', 'running', 'completed', 'failed')),
	CONSTRAINT "executions_trigger" CHECK ("executions"."trigger" in ('schedule', 'manual', 'inbound', 'retry', 'backfill')),
	CONSTRAINT "executions_error_code" CHECK ("executions"."error_code" in ('RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'PROVIDER_UNAVAILABLE', 'PROVIDER_ERROR', 'AUTHENTICATION_FAILED', 'INVALID_REQUEST', 'CONTENT_FILTERED', 'QUOTA_EXCEEDED', 'INTERRUPTED', 'INVALID_OUTPUT', 'CANCELLED')),
	CONSTRAINT "executions_lease_while_running" CHECK (("executions"."status" = 'running') = ("executions"."claim_token" is not null) and ("executions"."status" = 'running') = ("executions"."lease_until" is not null)),
	CONSTRAINT "executions_ended" CHECK (("executions"."status" in ('completed', 'failed')) = ("executions"."completed_at" is not null)),
	CONSTRAINT "executions_failed_why" CHECK (("executions"."status" = 'failed') = ("executions"."error_code" is not null)),
	CONSTRAINT "executions_reserve_while_running" CHECK ("executions"."tokens_reserved" = 0 or "executions"."status" = 'running')
) PARTITION BY LIST ("archived");
--> statement-breakpoint
CREATE TABLE "feeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"task_id" integer,
	"key_id" uuid,
	"secret_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "feeds_secret_hash_unique" UNIQUE("secret_hash")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"claim_token" uuid NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"backend_pid" integer,
	"status" smallint,
	"location" text,
	"answer_encrypted" text,
	"answer_bytes" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_answer" CHECK (("idempotency_keys"."status" is null) = ("idempotency_keys"."answer_encrypted" is null))
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
	"kind" text DEFAULT 'message' NOT NULL,
	"user_id" integer,
	"recipient" text NOT NULL,
	"subject" text NOT NULL,
	"body_encrypted" text,
	"attempt" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"lease_until" timestamp (3) with time zone,
	"sent_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"error" text,
	"alert_id" integer,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('message', 'password_reset')),
	CONSTRAINT "mails_ended" CHECK (("mails"."next_attempt_at" is null) = (num_nonnulls("mails"."sent_at", "mails"."failed_at") = 1)),
	CONSTRAINT "mails_body" CHECK (("mails"."body_encrypted" is not null) = ("mails"."kind" = 'message' and "mails"."next_attempt_at" is not null))
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
	"id" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"actor_id" integer,
	"actor_email" text,
	"user_id" integer,
	"details" jsonb NOT NULL,
	"address" text,
	"request_id" text
) PARTITION BY RANGE ("at");
--> statement-breakpoint
CREATE TABLE "scheduler_state" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"last_called_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"silent_since" timestamp (3) with time zone,
	CONSTRAINT "scheduler_state_one_row" CHECK ("scheduler_state"."id" = 1)
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
	CONSTRAINT "occurrences_fate" CHECK ("occurrences"."fate" in ('ran', 'late', 'skipped_overlap', 'skipped_by_user', 'missed', 'over_quota', 'over_budget', 'cancelled'))
) PARTITION BY RANGE ("planned_for");
--> statement-breakpoint
CREATE TABLE "task_proposals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"draft" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"task_id" integer
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
	"waiting_failures" integer DEFAULT 0 NOT NULL,
	"last_duration_ms" integer,
	"last_execution_at" timestamp (3) with time zone,
	"attachment_ids" uuid[] DEFAULT '{}' NOT NULL,
	"webhook_url" text,
	"channels" uuid[] DEFAULT '{}' NOT NULL,
	"notification_email" text,
	"context" json DEFAULT '{"clock":true,"previousResult":false}'::json NOT NULL,
	"output_schema" json,
	"tools" text[] DEFAULT '{}' NOT NULL,
	"max_tool_uses" integer DEFAULT 5 NOT NULL,
	"notify" text DEFAULT 'always' NOT NULL,
	"watch" text[] DEFAULT '{}' NOT NULL,
	"missed" text DEFAULT 'latest' NOT NULL,
	"overlap" text DEFAULT 'skip' NOT NULL,
	"ends_at" timestamp (3) with time zone,
	"max_runs" integer,
	"paused_until" timestamp (3) with time zone,
	"timeout_ms" integer,
	"monthly_budget_usd" double precision,
	"max_retries" integer DEFAULT 3 NOT NULL,
	"alerts" json,
	"planned_runs" integer DEFAULT 0 NOT NULL,
	"last_success_id" integer,
	"last_success_at" timestamp (3) with time zone,
	"last_success_digest" text,
	"cost_month" text,
	"month_cost_usd" double precision DEFAULT 0 NOT NULL,
	"overdue_at" timestamp (3) with time zone,
	"alerting_since" timestamp (3) with time zone,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "tasks_recurrence" CHECK ("tasks"."recurrence" in ('once', 'daily', 'weekly', 'monthly')),
	CONSTRAINT "tasks_status" CHECK ("tasks"."status" in ('active', 'paused', 'completed', 'failed')),
	CONSTRAINT "tasks_next_only_when_active" CHECK ("tasks"."next_execution_at" is null or "tasks"."status" = 'active'),
	CONSTRAINT "tasks_max_tokens" CHECK ("tasks"."max_tokens" between 1 and 200000),
	CONSTRAINT "tasks_temperature" CHECK ("tasks"."temperature" between 0 and 200),
	CONSTRAINT "tasks_notify" CHECK ("tasks"."notify" in ('always', 'change', 'failure')),
	CONSTRAINT "tasks_tools" CHECK ("tasks"."tools" <@ array['web_search', 'web_fetch']),
	CONSTRAINT "tasks_missed" CHECK ("tasks"."missed" in ('latest', 'none', 'all')),
	CONSTRAINT "tasks_overlap" CHECK ("tasks"."overlap" in ('skip', 'queue', 'cancel')),
	CONSTRAINT "tasks_max_retries" CHECK ("tasks"."max_retries" between 0 and 3)
);
--> statement-breakpoint
CREATE TABLE "orphaned_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"user_id" integer,
	"delete_after" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "upload_totals" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"files" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "upload_totals_not_negative" CHECK ("upload_totals"."bytes" >= 0 and "upload_totals"."files" >= 0)
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
	CONSTRAINT "uploads_size" CHECK ("uploads"."size" >= 0),
	CONSTRAINT "uploads_storage" CHECK ("uploads"."storage" in ('blob', 'base64')),
	CONSTRAINT "uploads_key_of_blob" CHECK (("uploads"."storage" = 'blob') = ("uploads"."storage_key" is not null))
);
--> statement-breakpoint
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
	"cost_usd" double precision DEFAULT 0 NOT NULL,
	"completed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "usage_counters_user_id_period_pk" PRIMARY KEY("user_id","period"),
	CONSTRAINT "usage_counters_not_negative" CHECK ("usage_counters"."executions" >= 0 and "usage_counters"."tokens" >= 0 and "usage_counters"."tokens_reserved" >= 0)
);
--> statement-breakpoint
CREATE TABLE "usage_records" (
	"id" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "usage_records_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
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
	"tool_uses" integer DEFAULT 0 NOT NULL,
	"tool_cost_usd" double precision DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_records_source" CHECK ("usage_records"."source" in ('execution', 'interrupted', 'agent'))
) PARTITION BY RANGE ("day");
--> statement-breakpoint
ALTER TABLE "api_key_usage" ADD CONSTRAINT "api_key_usage_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "email_changes" ADD CONSTRAINT "email_changes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "notification_addresses" ADD CONSTRAINT "notification_addresses_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_coupon_id_coupons_id_fk" FOREIGN KEY ("coupon_id") REFERENCES "public"."coupons"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "coupon_redemptions" ADD CONSTRAINT "coupon_redemptions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_webhook_id_endpoints_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."endpoints"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_digest_id_deliveries_id_fk" FOREIGN KEY ("digest_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_webhook_id_endpoints_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."endpoints"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "endpoints" ADD CONSTRAINT "endpoints_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "endpoints" ADD CONSTRAINT "endpoints_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "event_positions" ADD CONSTRAINT "event_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "event_streams" ADD CONSTRAINT "event_streams_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "rate_hits" ADD CONSTRAINT "rate_hits_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "orphaned_objects" ADD CONSTRAINT "orphaned_objects_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "upload_totals" ADD CONSTRAINT "upload_totals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "agent_calls" ADD CONSTRAINT "agent_calls_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "usage_alert_firings" ADD CONSTRAINT "usage_alert_firings_alert_id_usage_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."usage_alerts"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "usage_alerts" ADD CONSTRAINT "usage_alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "usage_counters" ADD CONSTRAINT "usage_counters_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "api_keys_user" ON "api_keys" USING btree ("user_id","created_at");
--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "password_resets_user" ON "password_resets" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id","created_at");
--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree (lower("email"));
--> statement-breakpoint
CREATE INDEX "alerts_of_user" ON "alerts" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "alerts_of_execution" ON "alerts" USING btree ("execution_id") WHERE "alerts"."execution_id" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX "coupons_code_key" ON "coupons" USING btree (upper("code"));
--> statement-breakpoint
CREATE INDEX "deliveries_queued" ON "deliveries" USING btree ("webhook_id","attempt" DESC NULLS LAST,"next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is not null;
--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is null;
--> statement-breakpoint
CREATE INDEX "deliveries_failed" ON "deliveries" USING btree ("ended_at") WHERE "deliveries"."status" = 'failed';
--> statement-breakpoint
CREATE INDEX "deliveries_sending" ON "deliveries" USING btree ("webhook_id","lease_until") WHERE "deliveries"."status" = 'sending';
--> statement-breakpoint
CREATE INDEX "deliveries_of_webhook" ON "deliveries" USING btree ("webhook_id","created_at");
--> statement-breakpoint
CREATE INDEX "deliveries_of_alert" ON "deliveries" USING btree ("alert_id") WHERE "deliveries"."alert_id" is not null;
--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'held';
--> statement-breakpoint
CREATE INDEX "deliveries_of_digest" ON "deliveries" USING btree ("digest_id") WHERE "deliveries"."digest_id" is not null;
--> statement-breakpoint
CREATE INDEX "delivery_attempts_of_webhook" ON "delivery_attempts" USING btree ("webhook_id","attempted_at");
--> statement-breakpoint
CREATE INDEX "delivery_attempts_of_delivery" ON "delivery_attempts" USING btree ("delivery_id");
--> statement-breakpoint
CREATE INDEX "endpoints_of_user" ON "endpoints" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE UNIQUE INDEX "endpoints_one_of_task" ON "endpoints" USING btree ("task_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "endpoints_one_of_account" ON "endpoints" USING btree ("user_id") WHERE "endpoints"."purpose" = 'account';
--> statement-breakpoint
CREATE INDEX "event_streams_of_user" ON "event_streams" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "feeds_key" ON "feeds" USING btree ("key_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "feeds_one_of_task" ON "feeds" USING btree ("task_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "feeds_one_of_account" ON "feeds" USING btree ("user_id") WHERE "feeds"."task_id" is null;
--> statement-breakpoint
CREATE INDEX "idempotency_keys_user" ON "idempotency_keys" USING btree ("user_id","answer_bytes");
--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");
--> statement-breakpoint
CREATE INDEX "rate_windows_end" ON "rate_windows" USING btree ("ends_at");
--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("next_attempt_at") WHERE "mails"."next_attempt_at" is not null;
--> statement-breakpoint
CREATE INDEX "mails_reset" ON "mails" USING btree ("recipient","created_at") WHERE "mails"."kind" = 'password_reset';
--> statement-breakpoint
CREATE INDEX "mails_of_user" ON "mails" USING btree ("user_id","created_at") WHERE "mails"."user_id" is not null;
--> statement-breakpoint
CREATE INDEX "mails_of_alert" ON "mails" USING btree ("alert_id") WHERE "mails"."alert_id" is not null;
--> statement-breakpoint
CREATE INDEX "notifications_of_user" ON "notifications" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "notifications_unread" ON "notifications" USING btree ("user_id","id") WHERE "notifications"."read_at" is null;
--> statement-breakpoint
CREATE INDEX "task_proposals_of_user" ON "task_proposals" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "task_proposals_of_task" ON "task_proposals" USING btree ("task_id");
--> statement-breakpoint
CREATE INDEX "task_proposals_expiry" ON "task_proposals" USING btree ("expires_at");
--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_execution_at","user_id") WHERE "tasks"."next_execution_at" is not null;
--> statement-breakpoint
CREATE INDEX "tasks_of_user" ON "tasks" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "tasks_by_next_run" ON "tasks" USING btree ("user_id",coalesce("next_execution_at", 'infinity'),"id");
--> statement-breakpoint
CREATE INDEX "tasks_by_name" ON "tasks" USING btree ("user_id",lower("name"),"id");
--> statement-breakpoint
CREATE INDEX "tasks_active_of_user" ON "tasks" USING btree ("user_id") WHERE "tasks"."status" = 'active';
--> statement-breakpoint
CREATE INDEX "tasks_failing" ON "tasks" USING btree ("user_id","id") WHERE "tasks"."consecutive_failures" > 0;
--> statement-breakpoint
CREATE INDEX "tasks_attachments" ON "tasks" USING gin ("attachment_ids") WHERE "tasks"."attachment_ids" <> '{}';
--> statement-breakpoint
CREATE INDEX "tasks_overdue" ON "tasks" USING btree ("overdue_at") WHERE "tasks"."overdue_at" is not null;
--> statement-breakpoint
CREATE INDEX "orphaned_objects_due" ON "orphaned_objects" USING btree ("delete_after");
--> statement-breakpoint
CREATE INDEX "orphaned_objects_of_user" ON "orphaned_objects" USING btree ("user_id") WHERE "orphaned_objects"."user_id" is not null;
--> statement-breakpoint
CREATE INDEX "uploads_by_age" ON "uploads" USING btree ("user_id","uploaded_at","id");
--> statement-breakpoint
CREATE INDEX "uploads_by_url" ON "uploads" USING btree (md5("url"));
--> statement-breakpoint
CREATE UNIQUE INDEX "uploads_storage_key" ON "uploads" USING btree ("storage_key");
--> statement-breakpoint
CREATE INDEX "agent_calls_lease" ON "agent_calls" USING btree ("lease_until");
--> statement-breakpoint
CREATE INDEX "agent_calls_of_user" ON "agent_calls" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "usage_counters_months" ON "usage_counters" USING btree ("user_id") WHERE length("usage_counters"."period") = 7;
--> statement-breakpoint
CREATE INDEX "usage_counters_days" ON "usage_counters" USING btree ("period") WHERE length("usage_counters"."period") = 10;
--> statement-breakpoint
-- Executions: the live ones and, by id, the history.
CREATE TABLE "executions_live" PARTITION OF "executions" FOR VALUES IN (false);
--> statement-breakpoint
ALTER TABLE "executions_live" ADD PRIMARY KEY ("id");
--> statement-breakpoint
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions_live" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');
--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_retry" ON "executions_live" USING btree ("retry_of_id") WHERE "trigger" = 'retry';
--> statement-breakpoint
CREATE INDEX "executions_retry_of" ON "executions_live" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;
--> statement-breakpoint
CREATE INDEX "executions_queued" ON "executions_live" USING btree ("user_id","run_at","id") WHERE "status" = 'pending' and "queued_at" is not null;
--> statement-breakpoint
CREATE INDEX "executions_waiting" ON "executions_live" USING btree ("run_at") WHERE "status" = 'pending' and "queued_at" is null;
--> statement-breakpoint
CREATE INDEX "executions_retries" ON "executions_live" USING btree ("user_id","task_id") WHERE "status" = 'pending' and "trigger" = 'retry';
--> statement-breakpoint
CREATE INDEX "executions_running" ON "executions_live" USING btree ("user_id") WHERE "status" = 'running';
--> statement-breakpoint
CREATE UNIQUE INDEX "executions_slots" ON "executions_live" USING btree ("slot") WHERE "status" = 'running';
--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_running" ON "executions_live" USING btree ("task_id") WHERE "status" = 'running';
--> statement-breakpoint
CREATE INDEX "executions_live_of_user" ON "executions_live" USING btree ("user_id","task_id") WHERE "status" in ('pending', 'running');
--> statement-breakpoint
CREATE INDEX "executions_of_user" ON "executions_live" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "executions_of_task" ON "executions_live" USING btree ("task_id","id");
--> statement-breakpoint
CREATE TABLE "executions_history" PARTITION OF "executions" FOR VALUES IN (true) PARTITION BY RANGE ("id");
--> statement-breakpoint
-- Statements for live executions leave the history out by it.
ALTER TABLE "executions_history" ADD CONSTRAINT "executions_history_ended" CHECK ("status" IN ('completed', 'failed'));
--> statement-breakpoint
ALTER TABLE "executions_history" ADD PRIMARY KEY ("id", "archived");
--> statement-breakpoint
CREATE INDEX "executions_history_of_user" ON "executions_history" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "executions_history_of_task" ON "executions_history" USING btree ("task_id","id");
--> statement-breakpoint
CREATE INDEX "executions_history_of_occurrence" ON "executions_history" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');
--> statement-breakpoint
CREATE INDEX "executions_history_by_end" ON "executions_history" USING brin ("completed_at");
--> statement-breakpoint
CREATE INDEX "executions_history_retry_of" ON "executions_history" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;
--> statement-breakpoint
-- A foreign key of the history would lock "tasks" whenever a partition is dropped.
CREATE FUNCTION "delete_executions_of_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "public"."executions" WHERE "task_id" = ANY (ARRAY(SELECT "id" FROM "deleted"));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "tasks_executions_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "deleted"
FOR EACH STATEMENT EXECUTE FUNCTION "public"."delete_executions_of_tasks"();
--> statement-breakpoint
CREATE TABLE "executions_from_1" PARTITION OF "executions_history" FOR VALUES FROM (MINVALUE) TO (200000);
--> statement-breakpoint
CREATE TABLE "executions_later" PARTITION OF "executions_history" FOR VALUES FROM (200000) TO (MAXVALUE);
--> statement-breakpoint
-- By month: all before the month after next, and what is later.
DO $$
DECLARE
  bound text := (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months') || '+00';
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['occurrences', 'events', 'usage_records', 'audit_log'] LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L)', name || '_before', name, bound);
  END LOOP;
END $$;
--> statement-breakpoint
ALTER TABLE "events_before" ADD CONSTRAINT "events_before_user_id_id_pk" PRIMARY KEY ("user_id", "id");
--> statement-breakpoint
ALTER TABLE "usage_records_before" ADD PRIMARY KEY ("id");
--> statement-breakpoint
ALTER TABLE "audit_log_before" ADD PRIMARY KEY ("id");
--> statement-breakpoint
CREATE INDEX "audit_log_before_of_user" ON "audit_log_before" USING btree ("user_id","id");
--> statement-breakpoint
CREATE INDEX "audit_log_before_of_actor" ON "audit_log_before" USING btree ("actor_id","id");
--> statement-breakpoint
CREATE INDEX "audit_log_before_of_kind" ON "audit_log_before" USING btree ("kind","id");
--> statement-breakpoint
CREATE INDEX "usage_records_before_of_user" ON "usage_records_before" USING btree ("user_id","day");
--> statement-breakpoint
CREATE INDEX "usage_records_before_of_execution" ON "usage_records_before" USING btree ("execution_id");
--> statement-breakpoint
CREATE INDEX "usage_records_before_with_tools" ON "usage_records_before" USING btree ("user_id","day") WHERE "tool_uses" > 0;
--> statement-breakpoint
DO $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT p.relname AS name, substring(pg_get_expr(b.relpartbound, b.oid) from 'TO .(''[^'']+'')') AS bound
    FROM pg_class p JOIN pg_class b ON b.relname = p.relname || '_before' WHERE b.relispartition
  LOOP
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part.name || '_later', part.name || '_before');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (MAXVALUE)', part.name, part.name || '_later', part.bound);
  END LOOP;
END $$;
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TRIGGER "tasks_made" AFTER INSERT ON "tasks" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();
--> statement-breakpoint
CREATE TRIGGER "tasks_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();
--> statement-breakpoint
CREATE FUNCTION "public"."increase_revision"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."revision" := OLD."revision" + 1;
  RETURN NEW;
END $$;
--> statement-breakpoint
-- Each run sets these, often to what they are.
CREATE TRIGGER "tasks_run" BEFORE UPDATE OF "next_execution_at", "status", "execution_count", "last_execution_at"
ON "tasks" FOR EACH ROW
WHEN ((OLD."next_execution_at", OLD."status", OLD."execution_count", OLD."last_execution_at")
  IS DISTINCT FROM (NEW."next_execution_at", NEW."status", NEW."execution_count", NEW."last_execution_at"))
EXECUTE FUNCTION "public"."increase_revision"();
--> statement-breakpoint
CREATE TRIGGER "users_changed" BEFORE UPDATE OF "identity_user_id", "email", "name", "role", "plan", "timezone", "is_active",
  "trial_ends_at", "provider_key_encrypted", "notify_email", "notify_webhook", "notification_emails", "notification_url",
  "created_at", "updated_at"
ON "users" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
--> statement-breakpoint
CREATE TRIGGER "endpoints_changed" BEFORE UPDATE OF "user_id", "purpose", "task_id", "url", "events", "description", "status",
  "created_at", "name", "shown_settings", "is_for_account", "quiet", "urgent", "min_interval_minutes", "digest", "digest_hour",
  "digest_timezone"
ON "endpoints" FOR EACH ROW
WHEN ((OLD."user_id", OLD."purpose", OLD."task_id", OLD."url", OLD."events", OLD."description", OLD."status", OLD."created_at",
    OLD."name", OLD."shown_settings"::text, OLD."is_for_account", OLD."quiet"::text, OLD."urgent", OLD."min_interval_minutes",
    OLD."digest", OLD."digest_hour", OLD."digest_timezone")
  IS DISTINCT FROM (NEW."user_id", NEW."purpose", NEW."task_id", NEW."url", NEW."events", NEW."description", NEW."status",
    NEW."created_at", NEW."name", NEW."shown_settings"::text, NEW."is_for_account", NEW."quiet"::text, NEW."urgent",
    NEW."min_interval_minutes", NEW."digest", NEW."digest_hour", NEW."digest_timezone"))
EXECUTE FUNCTION "public"."increase_revision"();
--> statement-breakpoint
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
--> statement-breakpoint
ALTER TABLE "rate_windows" SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE "tasks" SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE "usage_counters" SET (fillfactor = 60);
--> statement-breakpoint
ALTER TABLE "endpoints" SET (fillfactor = 60);
--> statement-breakpoint
INSERT INTO "settings" ("id") VALUES (1);
--> statement-breakpoint
INSERT INTO "scheduler_state" DEFAULT VALUES;
