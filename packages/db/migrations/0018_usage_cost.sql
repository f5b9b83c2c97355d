ALTER TABLE "usage_counters" ADD COLUMN "cost_usd" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "tasks_failing" ON "tasks" USING btree ("user_id","id") WHERE "tasks"."consecutive_failures" > 0;--> statement-breakpoint
UPDATE "usage_counters" c SET "cost_usd" = r."cost" FROM (
	SELECT "user_id", p."period", sum("cost_usd") AS "cost"
	FROM "usage_records" CROSS JOIN LATERAL (VALUES (to_char("day", 'YYYY-MM-DD')), (to_char("day", 'YYYY-MM'))) p("period")
	WHERE "cost_usd" <> 0 GROUP BY "user_id", p."period"
) r WHERE r."user_id" = c."user_id" AND r."period" = c."period";
