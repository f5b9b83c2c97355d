ALTER TABLE "tasks" ADD COLUMN "external_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "is_imported" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "tasks" SET "external_id" = 'task-' || "id";--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_external_id" ON "tasks" USING btree ("user_id","external_id");--> statement-breakpoint
-- A task that an import has named task-<id> keeps that name: a new task of the same owner takes the next free id.
CREATE FUNCTION "public"."name_task"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  WHILE EXISTS (SELECT FROM "tasks" WHERE "user_id" = NEW."user_id" AND "external_id" = 'task-' || NEW."id"
      AND "id" <> NEW."id") LOOP
    NEW."id" := nextval(pg_get_serial_sequence('tasks', 'id'));
  END LOOP;
  NEW."external_id" := 'task-' || NEW."id";
  RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER "tasks_named" BEFORE INSERT ON "tasks" FOR EACH ROW WHEN (NEW."external_id" = '')
EXECUTE FUNCTION "public"."name_task"();--> statement-breakpoint
CREATE OR REPLACE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "external_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "interval", "timezone", "ai_model", "fallback_models", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "inputs", "sources", "run_if", "notify", "watch", "missed", "overlap", "ends_at",
  "max_runs", "paused_until", "timeout_ms", "monthly_budget_usd", "tools", "max_tool_uses", "require_tools",
  "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
