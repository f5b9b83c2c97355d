DROP INDEX "executions_running";--> statement-breakpoint
DROP INDEX "executions_live";--> statement-breakpoint
CREATE INDEX "executions_running" ON "executions" USING btree ("user_id") WHERE "executions"."status" = 'running';--> statement-breakpoint
CREATE INDEX "executions_live" ON "executions" USING btree ("user_id","task_id") WHERE "executions"."status" in ('pending', 'running');--> statement-breakpoint
-- Rows that are updated far more often than they are made: with room on its page the new version stays there, and no
-- index is touched.
ALTER TABLE "tasks" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "usage_counters" SET (fillfactor = 60);--> statement-breakpoint
ALTER TABLE "webhooks" SET (fillfactor = 60);
