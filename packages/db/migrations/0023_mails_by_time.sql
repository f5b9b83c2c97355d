DROP INDEX "mails_user";--> statement-breakpoint
CREATE INDEX "mails_of_user" ON "mails" USING btree ("user_id","created_at") WHERE "mails"."user_id" is not null;