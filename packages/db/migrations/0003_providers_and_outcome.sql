CREATE TABLE "listed_models" (
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"listed_at" timestamp (3) with time zone NOT NULL,
	"warned_at" timestamp (3) with time zone,
	"ends_at" timestamp (3) with time zone,
	CONSTRAINT "listed_models_provider_model_pk" PRIMARY KEY("provider","model")
);
--> statement-breakpoint
CREATE TABLE "providers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"base_url" text NOT NULL,
	"api_key_encrypted" text,
	"max_concurrent" integer,
	"last_user_id" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "providers_name" UNIQUE("name"),
	CONSTRAINT "providers_kind" CHECK ("kind" in ('openai', 'anthropic')),
	CONSTRAINT "providers_max_concurrent" CHECK ("max_concurrent" between 1 and 1000)
);
--> statement-breakpoint
ALTER TABLE "alerts" DROP CONSTRAINT "alerts_kind";--> statement-breakpoint
ALTER TABLE "executions" DROP CONSTRAINT "executions_error_code";--> statement-breakpoint
ALTER TABLE "tasks" DROP CONSTRAINT "tasks_notify";--> statement-breakpoint
ALTER TABLE "usage_records" DROP CONSTRAINT "usage_records_source";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "provider" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "model_attempts" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "outcome" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "outcome_reason" text;--> statement-breakpoint
ALTER TABLE "settings" ADD COLUMN "models_checked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "fallback_models" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "not_done_in_row" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "fallbacks_in_row" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "require_tools" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_calls" ADD COLUMN "provider" text;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "provider" text;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_kind" CHECK ("kind" in ('task.overdue', 'task.failing', 'task.recovered', 'task.expensive', 'task.slow', 'task.degraded'));--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_outcome" CHECK ("outcome" in ('done', 'nothing_new', 'not_done'));--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_error_code" CHECK ("error_code" in ('RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'PROVIDER_UNAVAILABLE', 'PROVIDER_ERROR', 'AUTHENTICATION_FAILED', 'UNKNOWN_MODEL', 'INVALID_REQUEST', 'CONTENT_FILTERED', 'QUOTA_EXCEEDED', 'INTERRUPTED', 'INVALID_OUTPUT', 'CANCELLED'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_notify" CHECK ("notify" in ('always', 'change', 'failure', 'news'));--> statement-breakpoint
ALTER TABLE "usage_records" ADD CONSTRAINT "usage_records_source" CHECK ("source" in ('execution', 'fallback', 'outcome', 'interrupted', 'agent'));--> statement-breakpoint
CREATE OR REPLACE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "interval", "timezone", "ai_model", "fallback_models", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses", "require_tools",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
