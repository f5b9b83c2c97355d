DROP INDEX "deliveries_due";--> statement-breakpoint
DROP INDEX "deliveries_next";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "via_webhook" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "queued_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "ended_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "last_attempt_ok" boolean;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "window_ends_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "window_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_queued" ON "deliveries" USING btree ("webhook_id","attempt" DESC NULLS LAST,"next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."status" = 'pending' and "deliveries"."queued_at" is null;--> statement-breakpoint
CREATE INDEX "deliveries_failed" ON "deliveries" USING btree ("ended_at") WHERE "deliveries"."status" = 'failed';--> statement-breakpoint
UPDATE "deliveries" SET "ended_at" = "created_at" WHERE "status" IN ('delivered', 'failed');--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_queued_while_pending" CHECK ("deliveries"."queued_at" is null or "deliveries"."status" = 'pending');--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_ended" CHECK (("deliveries"."status" in ('delivered', 'failed')) = ("deliveries"."ended_at" is not null));