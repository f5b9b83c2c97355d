CREATE TABLE "email_changes" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"step" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "email_changes_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "email_changes_step" CHECK ("email_changes"."step" in ('approve', 'confirm'))
);
--> statement-breakpoint
CREATE TABLE "notification_addresses" (
	"user_id" integer NOT NULL,
	"email" text NOT NULL,
	"token_hash" text,
	"expires_at" timestamp (3) with time zone,
	"confirmed_at" timestamp (3) with time zone,
	CONSTRAINT "notification_addresses_user_id_email_pk" PRIMARY KEY("user_id","email"),
	CONSTRAINT "notification_addresses_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "notification_addresses_link" CHECK (("notification_addresses"."token_hash" is null) = ("notification_addresses"."expires_at" is null)),
	CONSTRAINT "notification_addresses_confirmed" CHECK ("notification_addresses"."confirmed_at" is null or "notification_addresses"."token_hash" is null)
);
--> statement-breakpoint
ALTER TABLE "email_changes" ADD CONSTRAINT "email_changes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_addresses" ADD CONSTRAINT "notification_addresses_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Addresses that get mail already go on getting it. A process of the version before writes none here: those that it saves
-- in the meantime are confirmed when they are saved again.
INSERT INTO "notification_addresses" ("user_id", "email", "confirmed_at")
SELECT "id", unnest("notification_emails"), "created_at" FROM "users"
UNION
SELECT t."user_id", t."notification_email", u."created_at" FROM "tasks" t JOIN "users" u ON u."id" = t."user_id"
WHERE t."notification_email" IS NOT NULL
ON CONFLICT DO NOTHING;
