ALTER TABLE "executions" ADD COLUMN "slot" smallint;--> statement-breakpoint
CREATE UNIQUE INDEX "executions_slots" ON "executions_live" USING btree ("slot") WHERE "status" = 'running';
