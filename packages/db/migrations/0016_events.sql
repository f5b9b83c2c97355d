CREATE TABLE "event_positions" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"last_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "event_streams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" integer NOT NULL,
	"session_id" uuid,
	"api_key_id" uuid,
	"lease_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "event_streams_caller" CHECK (num_nonnulls("event_streams"."session_id", "event_streams"."api_key_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "events" (
	"user_id" integer NOT NULL,
	"id" bigint NOT NULL,
	"event" text NOT NULL,
	"task_id" integer,
	"data" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "events_user_id_id_pk" PRIMARY KEY("user_id","id")
);
--> statement-breakpoint
ALTER TABLE "event_positions" ADD CONSTRAINT "event_positions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_streams" ADD CONSTRAINT "event_streams_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_streams_of_user" ON "event_streams" USING btree ("user_id");