DROP INDEX "uploads_of_user";--> statement-breakpoint
CREATE INDEX "uploads_by_age" ON "uploads" USING btree ("user_id","uploaded_at","id");