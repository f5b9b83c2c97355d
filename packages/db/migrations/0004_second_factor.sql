CREATE TABLE "factors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"secret_encrypted" text,
	"credential_id" text,
	"public_key" text,
	"transports" text[] DEFAULT '{}' NOT NULL,
	"counter" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "factors_credential_id_unique" UNIQUE("credential_id"),
	CONSTRAINT "factors_kind" CHECK ("factors"."kind" in ('passkey', 'totp')),
	CONSTRAINT "factors_secrets" CHECK (("factors"."kind" = 'totp') = ("factors"."secret_encrypted" is not null) and ("factors"."kind" = 'passkey') = ("factors"."credential_id" is not null and "factors"."public_key" is not null))
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"user_id" integer NOT NULL,
	"code_hash" text NOT NULL,
	CONSTRAINT "recovery_codes_user_id_code_hash_pk" PRIMARY KEY("user_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_tickets" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"provider" text,
	"subject" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sign_in_tickets_link" CHECK (("sign_in_tickets"."provider" is null) = ("sign_in_tickets"."subject" is null))
);
--> statement-breakpoint
CREATE TABLE "used_challenges" (
	"challenge_hash" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "factor_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "settings" ADD COLUMN "second_factor" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "factors" ADD CONSTRAINT "factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_tickets" ADD CONSTRAINT "sign_in_tickets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "factors_user" ON "factors" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "sign_in_tickets_user" ON "sign_in_tickets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sign_in_tickets_expiry" ON "sign_in_tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "used_challenges_expiry" ON "used_challenges" USING btree ("expires_at");--> statement-breakpoint
ALTER TABLE "settings" ADD CONSTRAINT "settings_second_factor" CHECK ("settings"."second_factor" in ('off', 'admins', 'all'));