ALTER TABLE "users" ADD COLUMN "language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_language" CHECK ("users"."language" in ('en', 'pt-BR'));
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "users_changed" BEFORE UPDATE OF "identity_user_id", "email", "name", "role", "plan", "timezone",
  "language", "is_active", "trial_ends_at", "provider_key_encrypted", "notify_email", "notify_webhook", "notification_emails",
  "notification_url", "created_at", "updated_at"
ON "users" FOR EACH ROW EXECUTE FUNCTION "public"."increase_revision"();
