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
CREATE TABLE "scheduler_state" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"last_called_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"silent_since" timestamp (3) with time zone,
	CONSTRAINT "scheduler_state_one_row" CHECK ("scheduler_state"."id" = 1)
);
--> statement-breakpoint
ALTER TABLE "executions" DROP CONSTRAINT "executions_trigger";--> statement-breakpoint
ALTER TABLE "executions" DROP CONSTRAINT "executions_error_code";--> statement-breakpoint
ALTER TABLE "occurrences" DROP CONSTRAINT "occurrences_fate";--> statement-breakpoint
DROP INDEX "executions_one_per_occurrence";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "request" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "inbound_data" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "output" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "changed" boolean;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "changes" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "compared_with_id" integer;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "alert_id" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "context" json DEFAULT '{"clock":true,"previousResult":false}'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "output_schema" json;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "notify" text DEFAULT 'always' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "watch" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "missed" text DEFAULT 'latest' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "overlap" text DEFAULT 'skip' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "ends_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "max_runs" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "paused_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "timeout_ms" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "monthly_budget_usd" double precision;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "max_retries" integer DEFAULT 3 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "alerts" json;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "planned_runs" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "last_success_id" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "last_success_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "last_success_digest" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "cost_month" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "month_cost_usd" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "overdue_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "alerting_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "alert_id" integer;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alerts_of_user" ON "alerts" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "alerts_of_execution" ON "alerts" USING btree ("execution_id") WHERE "alerts"."execution_id" is not null;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mails_of_alert" ON "mails" USING btree ("alert_id") WHERE "mails"."alert_id" is not null;--> statement-breakpoint
CREATE INDEX "tasks_overdue" ON "tasks" USING btree ("overdue_at") WHERE "tasks"."overdue_at" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_of_alert" ON "deliveries" USING btree ("alert_id") WHERE "deliveries"."alert_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions" USING btree ("task_id","planned_for") WHERE "executions"."planned_for" is not null and "executions"."trigger" in ('schedule', 'backfill');--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_trigger" CHECK ("executions"."trigger" in ('schedule', 'manual', 'inbound', 'retry', 'backfill'));--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_error_code" CHECK ("executions"."error_code" in ('RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'PROVIDER_UNAVAILABLE', 'PROVIDER_ERROR', 'AUTHENTICATION_FAILED', 'INVALID_REQUEST', 'CONTENT_FILTERED', 'QUOTA_EXCEEDED', 'INTERRUPTED', 'INVALID_OUTPUT', 'CANCELLED'));--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_fate" CHECK ("occurrences"."fate" in ('ran', 'late', 'skipped_overlap', 'skipped_by_user', 'missed', 'over_quota', 'over_budget', 'cancelled'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_notify" CHECK ("tasks"."notify" in ('always', 'change', 'failure'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_missed" CHECK ("tasks"."missed" in ('latest', 'none', 'all'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_overlap" CHECK ("tasks"."overlap" in ('skip', 'queue', 'cancel'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_max_retries" CHECK ("tasks"."max_retries" between 0 and 3);--> statement-breakpoint
INSERT INTO "scheduler_state" DEFAULT VALUES;--> statement-breakpoint
UPDATE "webhooks" SET "events" = "events" || '{task.overdue,task.failing,task.recovered,task.expensive,task.slow}'::text[]
WHERE "purpose" = 'task';--> statement-breakpoint
DROP TRIGGER "tasks_changed" ON "tasks";--> statement-breakpoint
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
