ALTER TABLE "events" RENAME COLUMN "event" TO "kinds";--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "kinds" SET DATA TYPE text[] USING ARRAY["kinds"];
