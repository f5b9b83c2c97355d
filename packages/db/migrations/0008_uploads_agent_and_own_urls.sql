CREATE TABLE "loose_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"user_id" integer,
	"delete_after" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "upload_totals" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"files" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "upload_totals_not_negative" CHECK ("upload_totals"."bytes" >= 0 and "upload_totals"."files" >= 0)
);
--> statement-breakpoint
CREATE TABLE "agent_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"day" date NOT NULL,
	"model" text NOT NULL,
	"input_tokens" integer NOT NULL,
	"tokens_reserved" integer NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "uploads_url";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "interrupted_at" timestamp (3) with time zone[];--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "purpose" text DEFAULT 'subscription' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "task_id" integer;--> statement-breakpoint
ALTER TABLE "loose_objects" ADD CONSTRAINT "loose_objects_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "upload_totals" ADD CONSTRAINT "upload_totals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_calls" ADD CONSTRAINT "agent_calls_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "loose_objects_due" ON "loose_objects" USING btree ("delete_after");--> statement-breakpoint
CREATE INDEX "loose_objects_of_user" ON "loose_objects" USING btree ("user_id") WHERE "loose_objects"."user_id" is not null;--> statement-breakpoint
CREATE INDEX "agent_calls_lease" ON "agent_calls" USING btree ("lease_until");--> statement-breakpoint
CREATE INDEX "agent_calls_of_user" ON "agent_calls" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tasks_attachments" ON "tasks" USING gin ("attachment_ids") WHERE "tasks"."attachment_ids" <> '{}';--> statement-breakpoint
CREATE INDEX "uploads_by_url" ON "uploads" USING btree (md5("url"));--> statement-breakpoint
CREATE UNIQUE INDEX "uploads_storage_key" ON "uploads" USING btree ("storage_key");--> statement-breakpoint
CREATE UNIQUE INDEX "webhooks_one_of_task" ON "webhooks" USING btree ("task_id");--> statement-breakpoint
CREATE UNIQUE INDEX "webhooks_one_of_account" ON "webhooks" USING btree ("user_id") WHERE "webhooks"."purpose" = 'account';--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_key_of_blob" CHECK (("uploads"."storage" = 'blob') = ("uploads"."storage_key" is not null));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_purpose" CHECK ("webhooks"."purpose" in ('subscription', 'task', 'account'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_task" CHECK (("webhooks"."purpose" = 'task') = ("webhooks"."task_id" is not null));--> statement-breakpoint
INSERT INTO "upload_totals" ("user_id", "bytes", "files")
SELECT "user_id", sum("size"), count(*) FROM "uploads" GROUP BY "user_id";
