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
ALTER TABLE "executions" ADD COLUMN "citations" json;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "tool_uses" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "tools" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "max_tool_uses" integer DEFAULT 5 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "tool_uses" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_records" ADD COLUMN "tool_cost_usd" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_proposals" ADD CONSTRAINT "task_proposals_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_proposals_of_user" ON "task_proposals" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "task_proposals_of_task" ON "task_proposals" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "task_proposals_expiry" ON "task_proposals" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "usage_records_with_tools" ON "usage_records" USING btree ("user_id","day") WHERE "usage_records"."tool_uses" > 0;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_tools" CHECK ("tasks"."tools" <@ array['web_search', 'web_fetch']);--> statement-breakpoint
DROP TRIGGER "tasks_changed" ON "tasks";--> statement-breakpoint
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
