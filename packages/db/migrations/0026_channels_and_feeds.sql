CREATE TABLE "feeds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"task_id" integer,
	"secret_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "feeds_secret_hash_unique" UNIQUE("secret_hash")
);
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_status";--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_next_while_pending";--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_ended";--> statement-breakpoint
ALTER TABLE "webhooks" DROP CONSTRAINT "webhooks_purpose";--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "channels" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "digest_id" uuid;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "kind" text DEFAULT 'webhook' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "name" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "shown_settings" json;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "is_for_account" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "quiet" json;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "urgent" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "min_interval_minutes" integer;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "digest" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "digest_hour" integer;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "digest_timezone" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "last_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "unsubscribe_hash" text;--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "feeds_one_of_task" ON "feeds" USING btree ("task_id");--> statement-breakpoint
CREATE UNIQUE INDEX "feeds_one_of_account" ON "feeds" USING btree ("user_id") WHERE "feeds"."task_id" is null;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_digest_id_deliveries_id_fk" FOREIGN KEY ("digest_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_of_digest" ON "deliveries" USING btree ("digest_id") WHERE "deliveries"."digest_id" is not null;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_unsubscribe_hash_unique" UNIQUE("unsubscribe_hash");--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_status" CHECK ("deliveries"."status" in ('pending', 'sending', 'delivered', 'failed', 'held', 'digested'));--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_next_while_pending" CHECK (("deliveries"."status" in ('pending', 'held')) = ("deliveries"."next_attempt_at" is not null));--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_ended" CHECK (("deliveries"."status" in ('delivered', 'failed', 'digested')) = ("deliveries"."ended_at" is not null));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_kind" CHECK ("webhooks"."kind" in ('webhook', 'slack', 'mattermost', 'teams', 'discord', 'telegram', 'ntfy', 'apprise', 'email'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_channel" CHECK (("webhooks"."purpose" = 'channel') = ("webhooks"."kind" <> 'webhook'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_digest" CHECK ("webhooks"."digest" in ('off', 'hourly', 'daily'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_purpose" CHECK ("webhooks"."purpose" in ('subscription', 'task', 'account', 'channel'));--> statement-breakpoint
DROP TRIGGER "webhooks_changed" ON "webhooks";--> statement-breakpoint
CREATE TRIGGER "webhooks_changed" BEFORE UPDATE OF "user_id", "purpose", "task_id", "url", "events", "description", "status",
  "created_at", "name", "shown_settings", "is_for_account", "quiet", "urgent", "min_interval_minutes", "digest", "digest_hour",
  "digest_timezone"
ON "webhooks" FOR EACH ROW
WHEN ((OLD."user_id", OLD."purpose", OLD."task_id", OLD."url", OLD."events", OLD."description", OLD."status", OLD."created_at",
    OLD."name", OLD."shown_settings"::text, OLD."is_for_account", OLD."quiet"::text, OLD."urgent", OLD."min_interval_minutes",
    OLD."digest", OLD."digest_hour", OLD."digest_timezone")
  IS DISTINCT FROM (NEW."user_id", NEW."purpose", NEW."task_id", NEW."url", NEW."events", NEW."description", NEW."status",
    NEW."created_at", NEW."name", NEW."shown_settings"::text, NEW."is_for_account", NEW."quiet"::text, NEW."urgent",
    NEW."min_interval_minutes", NEW."digest", NEW."digest_hour", NEW."digest_timezone"))
EXECUTE FUNCTION "public"."increase_revision"();--> statement-breakpoint
DROP TRIGGER "tasks_changed" ON "tasks";--> statement-breakpoint
CREATE TRIGGER "tasks_changed" BEFORE UPDATE OF "user_id", "name", "description", "prompt", "scheduled_for", "recurrence",
  "recurrence_pattern", "timezone", "ai_model", "max_tokens", "temperature", "attachment_ids", "webhook_url",
  "notification_email", "channels", "context", "output_schema", "notify", "watch", "missed", "overlap", "ends_at", "max_runs",
  "paused_until", "timeout_ms", "monthly_budget_usd", "max_retries", "alerts", "created_at", "updated_at"
ON "tasks" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
