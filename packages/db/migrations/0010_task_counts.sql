-- Triggers, so that the count is right whoever writes: a process of the version before, too, which knows nothing of it.
-- They come first, in the order in which most transactions lock the two tables, and hold up who writes tasks until the
-- tasks there are have been counted.
CREATE FUNCTION "public"."count_tasks"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "public"."users" u SET "task_count" = u."task_count" + c."change"
  FROM (
    SELECT "user_id", CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END AS "change" FROM "changed" GROUP BY "user_id"
  ) c
  WHERE u."id" = c."user_id";
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "tasks_made" AFTER INSERT ON "tasks" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();--> statement-breakpoint
CREATE TRIGGER "tasks_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "public"."count_tasks"();--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "task_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE "users" u SET "task_count" = c."count" FROM (SELECT "user_id", count(*) AS "count" FROM "tasks" GROUP BY "user_id") c WHERE u."id" = c."user_id";
