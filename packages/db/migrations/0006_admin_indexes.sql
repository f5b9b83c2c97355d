CREATE INDEX "executions_retry_of" ON "executions" USING btree ("retry_of_id") WHERE "executions"."retry_of_id" is not null;--> statement-breakpoint
CREATE INDEX "audit_log_of_actor" ON "audit_log" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_of_kind" ON "audit_log" USING btree ("kind","id");