ALTER TABLE "mails" ALTER COLUMN "body_sealed" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "kind" text DEFAULT 'message' NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "user_id" integer;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mails_reset" ON "mails" USING btree ("recipient","created_at") WHERE "mails"."kind" = 'password_reset';--> statement-breakpoint
CREATE INDEX "mails_user" ON "mails" USING btree ("user_id") WHERE "mails"."user_id" is not null;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_kind" CHECK ("mails"."kind" in ('message', 'password_reset'));--> statement-breakpoint
UPDATE "mails" SET "body_sealed" = NULL WHERE "next_attempt_at" IS NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_ended" CHECK (("mails"."next_attempt_at" is null) = (num_nonnulls("mails"."sent_at", "mails"."failed_at") = 1));--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_body" CHECK (("mails"."body_sealed" is not null) = ("mails"."kind" = 'message' and "mails"."next_attempt_at" is not null));