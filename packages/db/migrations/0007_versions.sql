CREATE TABLE "run_questions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_questions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"execution_id" integer NOT NULL,
	"task_id" integer NOT NULL,
	"user_id" integer NOT NULL,
	"message" text NOT NULL,
	"content" text NOT NULL,
	"model" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "task_versions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "task_versions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"task_id" integer NOT NULL,
	"number" integer NOT NULL,
	"user_id" integer NOT NULL,
	"via" text NOT NULL,
	"fields" text[] NOT NULL,
	"settings" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "task_versions_once" UNIQUE("task_id","number"),
	CONSTRAINT "task_versions_via" CHECK ("task_versions"."via" in ('page', 'api', 'mcp', 'import'))
);
--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "task_version" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "inputs" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "used_version" integer;--> statement-breakpoint
ALTER TABLE "run_questions" ADD CONSTRAINT "run_questions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_questions" ADD CONSTRAINT "run_questions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_versions" ADD CONSTRAINT "task_versions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_versions" ADD CONSTRAINT "task_versions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "run_questions_of_execution" ON "run_questions" USING btree ("execution_id","id");--> statement-breakpoint
CREATE INDEX "run_questions_of_task" ON "run_questions" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "run_questions_of_user" ON "run_questions" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "task_versions_of_user" ON "task_versions" USING btree ("user_id","id");
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "interval", "timezone", "ai_model", "fallback_models", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "inputs", "sources", "run_if", "notify", "watch", "missed", "overlap", "ends_at",
  "max_runs", "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses", "require_tools",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
