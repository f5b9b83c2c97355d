-- Triggers, so that a revision changes with its row whoever writes: a process of the version before, too, which knows
-- nothing of it. No table is rewritten; the locks last for the moment of the migration.
ALTER TABLE "tasks" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE FUNCTION "public"."increase_revision"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."revision" := OLD."revision" + 1;
  RETURN NEW;
END $$;--> statement-breakpoint
-- Comparing prompts would read all of them at each run, and only changes by the owner set these columns.
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();--> statement-breakpoint
-- Each run sets these, often to what they are.
CREATE TRIGGER "tasks_run" BEFORE UPDATE OF "next_execution_at", "status", "execution_count", "last_execution_at"
ON "tasks" FOR EACH ROW
WHEN ((OLD."next_execution_at", OLD."status", OLD."execution_count", OLD."last_execution_at")
  IS DISTINCT FROM (NEW."next_execution_at", NEW."status", NEW."execution_count", NEW."last_execution_at"))
EXECUTE FUNCTION "public"."increase_revision"();--> statement-breakpoint
CREATE TRIGGER "users_changed" BEFORE UPDATE OF "identity_user_id", "email", "name", "role", "plan", "timezone", "is_active",
  "trial_ends_at", "provider_key_sealed", "notify_email", "notify_webhook", "notification_emails", "notification_url",
  "created_at", "updated_at"
ON "users" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();--> statement-breakpoint
CREATE TRIGGER "webhooks_changed" BEFORE UPDATE OF "user_id", "purpose", "task_id", "url", "events", "description", "status",
  "created_at"
ON "webhooks" FOR EACH ROW
WHEN ((OLD."user_id", OLD."purpose", OLD."task_id", OLD."url", OLD."events", OLD."description", OLD."status", OLD."created_at")
  IS DISTINCT FROM (NEW."user_id", NEW."purpose", NEW."task_id", NEW."url", NEW."events", NEW."description", NEW."status",
    NEW."created_at"))
EXECUTE FUNCTION "public"."increase_revision"();
