CREATE TABLE "oauth_clients" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"host" text NOT NULL,
	"document" jsonb,
	"fetched_at" timestamp (3) with time zone,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"blocked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "oauth_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"user_id" integer NOT NULL,
	"client_id" text NOT NULL,
	"grant_id" uuid NOT NULL,
	"key_id" uuid,
	"payload" jsonb NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"consumed_at" timestamp (3) with time zone,
	CONSTRAINT "oauth_tokens_kind" CHECK ("oauth_tokens"."kind" in ('code', 'access', 'refresh')),
	CONSTRAINT "oauth_tokens_connection" CHECK ("oauth_tokens"."kind" = 'code' or "oauth_tokens"."key_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "api_keys" ALTER COLUMN "secret_hash" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "client_id" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "client_host" text;--> statement-breakpoint
ALTER TABLE "oauth_tokens" ADD CONSTRAINT "oauth_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_tokens" ADD CONSTRAINT "oauth_tokens_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "oauth_tokens_user" ON "oauth_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "oauth_tokens_key" ON "oauth_tokens" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "oauth_tokens_expiry" ON "oauth_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_client" ON "api_keys" USING btree ("client_id","user_id") WHERE "api_keys"."client_id" is not null;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_kind" CHECK (("api_keys"."secret_hash" is null) = ("api_keys"."client_id" is not null) and ("api_keys"."client_id" is null) = ("api_keys"."client_host" is null));