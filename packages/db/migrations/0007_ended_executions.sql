ALTER TABLE "usage_counters" ADD COLUMN "completed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_counters" ADD COLUMN "failed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "usage_counters_months" ON "usage_counters" USING btree ("user_id") WHERE length("usage_counters"."period") = 7;--> statement-breakpoint
CREATE INDEX "usage_counters_days" ON "usage_counters" USING btree ("period") WHERE length("usage_counters"."period") = 10;--> statement-breakpoint
INSERT INTO "usage_counters" ("user_id", "period", "completed", "failed")
SELECT e."user_id", p."period", count(*) FILTER (WHERE e."status" = 'completed'), count(*) FILTER (WHERE e."status" = 'failed')
FROM "executions" e
CROSS JOIN LATERAL (SELECT coalesce(e."usage_day", (e."completed_at" AT TIME ZONE 'UTC')::date)::text AS "day") d
CROSS JOIN LATERAL (VALUES (d."day"), (left(d."day", 7))) p("period")
WHERE e."status" IN ('completed', 'failed')
GROUP BY 1, 2
ON CONFLICT ("user_id", "period") DO UPDATE SET "completed" = excluded."completed", "failed" = excluded."failed";
