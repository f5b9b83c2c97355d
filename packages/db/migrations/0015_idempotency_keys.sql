CREATE TABLE "idempotency_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"claim_token" uuid NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"backend_pid" integer,
	"status" smallint,
	"location" text,
	"answer_sealed" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_answer" CHECK (("idempotency_keys"."status" is null) = ("idempotency_keys"."answer_sealed" is null))
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_user" ON "idempotency_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");