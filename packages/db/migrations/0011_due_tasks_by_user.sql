DROP INDEX "tasks_due";--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("next_execution_at","user_id") WHERE "tasks"."next_execution_at" is not null;