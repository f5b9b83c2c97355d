CREATE TABLE "run_texts" (
	"execution_id" integer PRIMARY KEY NOT NULL,
	"task_id" integer NOT NULL,
	"words" "tsvector" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_positions" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"last_event_id" bigint DEFAULT 0 NOT NULL,
	"from_id" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
DROP INDEX "tasks_by_next_run";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "unseen_from_id" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "alerts" ADD COLUMN "acknowledged_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "seen_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "settings" ADD COLUMN "last_backup_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "settings" ADD COLUMN "backup_noticed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "interval" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "is_failing_alerted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "acknowledged_cause" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "acknowledged_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "usage_counters" ADD COLUMN "noticed" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "run_texts" ADD CONSTRAINT "run_texts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "search_positions" ADD CONSTRAINT "search_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "run_texts_words" ON "run_texts" USING gin ("words");--> statement-breakpoint
CREATE INDEX "run_texts_of_task" ON "run_texts" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "occurrences_missed" ON "occurrences" USING btree ("task_id","recorded_at") WHERE "occurrences"."fate" in ('missed', 'late');--> statement-breakpoint
CREATE INDEX "tasks_by_attention" ON "tasks" USING btree ("user_id",(case when "status" = 'failed' and "recurrence" <> 'once' then '-infinity' else coalesce("next_execution_at", 'infinity') end),"id");--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_interval" CHECK ("tasks"."interval" between 1 and 99);
--> statement-breakpoint
DROP TRIGGER "tasks_changed" ON "tasks";
--> statement-breakpoint
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "interval", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
