DROP INDEX "idempotency_keys_user";--> statement-breakpoint
ALTER TABLE "feeds" ADD COLUMN "key_id" uuid;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "answer_bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "feeds" ADD CONSTRAINT "feeds_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "feeds_key" ON "feeds" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_user" ON "idempotency_keys" USING btree ("user_id","answer_bytes");