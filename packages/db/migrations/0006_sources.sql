CREATE TABLE "task_looks" (
	"id" integer PRIMARY KEY NOT NULL,
	"instants" timestamp (3) with time zone[] DEFAULT '{}' NOT NULL,
	"waiting_since" timestamp (3) with time zone,
	"claim_token" uuid,
	"lease_until" timestamp (3) with time zone,
	"saved_month" text,
	"saved_runs" integer DEFAULT 0 NOT NULL,
	"saved_usd" double precision DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "task_sources" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" integer NOT NULL,
	"name" text NOT NULL,
	"definition" text NOT NULL,
	"etag" text,
	"last_modified" text,
	"digest" text,
	"completed_digest" text,
	"completed_entries" text,
	"text_encrypted" text,
	"bytes" integer,
	"as_of" timestamp (3) with time zone,
	"failures_in_row" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "task_sources_name" UNIQUE("task_id","name")
);
--> statement-breakpoint
ALTER TABLE "occurrences" DROP CONSTRAINT "occurrences_fate";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "sources" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "source_states" json;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "sources" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "run_if" text DEFAULT 'always' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "last_success_cost_usd" double precision;--> statement-breakpoint
ALTER TABLE "usage_counters" ADD COLUMN "saved_runs" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_counters" ADD COLUMN "saved_usd" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "task_looks" ADD CONSTRAINT "task_looks_id_tasks_id_fk" FOREIGN KEY ("id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_sources" ADD CONSTRAINT "task_sources_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_looks_waiting" ON "task_looks" USING btree ("waiting_since") WHERE "task_looks"."waiting_since" is not null;--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_fate" CHECK ("fate" in ('ran', 'late', 'skipped_overlap', 'skipped_by_user', 'missed', 'over_quota', 'over_budget', 'cancelled', 'unchanged'));--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_run_if" CHECK ("run_if" in ('always', 'changed'));--> statement-breakpoint
CREATE OR REPLACE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "interval", "timezone", "ai_model", "fallback_models", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "sources", "run_if", "notify", "watch", "missed", "overlap", "ends_at",
  "max_runs", "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses", "require_tools",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
--> statement-breakpoint
ALTER TABLE "task_looks" SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE "task_sources" SET (fillfactor = 80);
