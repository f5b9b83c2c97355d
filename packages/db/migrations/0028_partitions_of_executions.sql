-- A filled table is prepared before, see src/partitions/online-steps.ts: attaching it reads no row then.
ALTER TABLE "executions" ADD COLUMN IF NOT EXISTS "archived" boolean;--> statement-breakpoint
ALTER TABLE "alerts" DROP CONSTRAINT "alerts_execution_id_executions_id_fk";--> statement-breakpoint
ALTER TABLE "usage_records" DROP CONSTRAINT "usage_records_execution_id_executions_id_fk";--> statement-breakpoint
ALTER TABLE "executions" DROP CONSTRAINT "executions_retry_of_id_executions_id_fk";--> statement-breakpoint
ALTER TABLE "executions" RENAME TO "executions_before";--> statement-breakpoint
DO $$
DECLARE
  old name;
BEGIN
  FOR old IN SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 'executions_before'::regclass
  LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO %I', old, replace(old, 'executions_', 'executions_before_'));
  END LOOP;
END $$;--> statement-breakpoint
CREATE TABLE "executions" (LIKE "executions_before" INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY LIST ("archived");--> statement-breakpoint
ALTER TABLE "executions" DROP CONSTRAINT IF EXISTS "executions_not_archived";--> statement-breakpoint
ALTER TABLE "executions" ALTER COLUMN "archived" SET DEFAULT false;--> statement-breakpoint
DO $$
DECLARE
  next_id bigint;
BEGIN
  SELECT last_value + is_called::int INTO next_id FROM executions_id_seq;
  ALTER TABLE executions_before ALTER COLUMN id DROP IDENTITY;
  EXECUTE format('ALTER TABLE executions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME executions_id_seq START WITH %s)', next_id);
END $$;--> statement-breakpoint
CREATE TABLE "executions_live" (LIKE "executions_before" INCLUDING DEFAULTS INCLUDING CONSTRAINTS);--> statement-breakpoint
ALTER TABLE "executions_live" DROP CONSTRAINT IF EXISTS "executions_not_archived";--> statement-breakpoint
ALTER TABLE "executions_live" ALTER COLUMN "archived" SET DEFAULT false;--> statement-breakpoint
WITH "live" AS (
  DELETE FROM "executions_before" WHERE "status" IN ('pending', 'running') RETURNING *
)
INSERT INTO "executions_live" SELECT * FROM "live";--> statement-breakpoint
UPDATE "executions_live" SET "archived" = false;--> statement-breakpoint
ALTER TABLE "executions_live" ADD PRIMARY KEY ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_per_occurrence" ON "executions_live" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_retry" ON "executions_live" USING btree ("retry_of_id") WHERE "trigger" = 'retry';--> statement-breakpoint
CREATE INDEX "executions_retry_of" ON "executions_live" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;--> statement-breakpoint
CREATE INDEX "executions_queued" ON "executions_live" USING btree ("user_id","run_at","id") WHERE "status" = 'pending' and "queued_at" is not null;--> statement-breakpoint
CREATE INDEX "executions_waiting" ON "executions_live" USING btree ("run_at") WHERE "status" = 'pending' and "queued_at" is null;--> statement-breakpoint
CREATE INDEX "executions_running" ON "executions_live" USING btree ("user_id") WHERE "status" = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_running" ON "executions_live" USING btree ("task_id") WHERE "status" = 'running';--> statement-breakpoint
CREATE INDEX "executions_live_of_user" ON "executions_live" USING btree ("user_id","task_id") WHERE "status" in ('pending', 'running');--> statement-breakpoint
CREATE INDEX "executions_of_user" ON "executions_live" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "executions_of_task" ON "executions_live" USING btree ("task_id","id");--> statement-breakpoint
-- Runs that a process of the version before ended: the next cleanup moves them to the history.
CREATE INDEX "executions_ended_here" ON "executions_live" USING btree ("id") WHERE "status" in ('completed', 'failed');--> statement-breakpoint
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions_live" ADD CONSTRAINT "executions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ATTACH PARTITION "executions_live" FOR VALUES IN (false);--> statement-breakpoint
ALTER TABLE "executions" ATTACH PARTITION "executions_before" FOR VALUES IN (null);--> statement-breakpoint
ALTER TABLE "executions_before" DROP CONSTRAINT IF EXISTS "executions_not_archived";--> statement-breakpoint
CREATE TABLE "executions_history" PARTITION OF "executions" FOR VALUES IN (true) PARTITION BY RANGE ("id");--> statement-breakpoint
-- Statements for live executions leave the history out by it.
ALTER TABLE "executions_history" ADD CONSTRAINT "executions_history_ended" CHECK ("status" IN ('completed', 'failed'));--> statement-breakpoint
ALTER TABLE "executions_history" ADD PRIMARY KEY ("id", "archived");--> statement-breakpoint
CREATE INDEX "executions_history_of_user" ON "executions_history" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "executions_history_of_task" ON "executions_history" USING btree ("task_id","id");--> statement-breakpoint
CREATE INDEX "executions_history_of_occurrence" ON "executions_history" USING btree ("task_id","planned_for") WHERE "planned_for" is not null and "trigger" in ('schedule', 'backfill');--> statement-breakpoint
CREATE INDEX "executions_history_by_end" ON "executions_history" USING brin ("completed_at");--> statement-breakpoint
CREATE INDEX "executions_history_retry_of" ON "executions_history" USING btree ("retry_of_id") WHERE "retry_of_id" is not null;--> statement-breakpoint
-- A foreign key of the history would lock "tasks" whenever a partition is dropped.
CREATE FUNCTION "delete_executions_of_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "public"."executions" WHERE "task_id" = ANY (ARRAY(SELECT "id" FROM "deleted"));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "tasks_executions_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "deleted"
FOR EACH STATEMENT EXECUTE FUNCTION "public"."delete_executions_of_tasks"();--> statement-breakpoint
DO $$
DECLARE
  next_id bigint;
  first_later_id bigint;
BEGIN
  SELECT last_value INTO next_id FROM executions_id_seq;
  first_later_id := (next_id / 100000 + 2) * 100000;
  EXECUTE format('CREATE TABLE %I PARTITION OF executions_history FOR VALUES FROM (MINVALUE) TO (%s)',
    'executions_from_' || next_id, first_later_id);
  EXECUTE format('CREATE TABLE executions_later PARTITION OF executions_history FOR VALUES FROM (%s) TO (MAXVALUE)', first_later_id);
END $$;
