import { sql } from 'drizzle-orm';
import { doublePrecision, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';
import { tasks } from './tasks.ts';

/** What is known of a source of a task. A source that the task does not have any more keeps its row until the next look. */
export const taskSources = pgTable(
  'task_sources',
  {
    id: uuid().primaryKey(),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** A hash of its settings: everything else is of a source that has these. */
    definition: text().notNull(),
    /** The validators of the last good look. */
    etag: text(),
    lastModified: text('last_modified'),
    /** A hash of what the last good look has read; null before one. */
    digest: text(),
    /** The `digest` of the last completed run. */
    completedDigest: text('completed_digest'),
    /** Of a feed: short hashes of the entries that completed runs have had, newest first. */
    completedEntries: text('completed_entries'),
    /** What the model gets of it, bounded. */
    textEncrypted: text('text_encrypted'),
    bytes: integer(),
    /** When the last good look was. */
    asOf: instant('as_of'),
    failuresInRow: integer('failures_in_row').notNull().default(0),
  },
  (t) => [unique('task_sources_name').on(t.taskId, t.name)],
);

/** Of tasks with sources, which are read before a planned run. It has work while `waitingSince` is set. */
export const taskLooks = pgTable(
  'task_looks',
  {
    /** Of the task. */
    id: integer()
      .primaryKey()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    /** The due instants for which the sources are looked at. */
    instants: instant('instants').array().notNull().default([]),
    waitingSince: instant('waiting_since'),
    claimToken: uuid('claim_token'),
    leaseUntil: instant('lease_until'),
    /** The UTC month (`2026-11`) of the next two. */
    savedMonth: text('saved_month'),
    savedRuns: integer('saved_runs').notNull().default(0),
    savedUsd: doublePrecision('saved_usd').notNull().default(0),
  },
  (t) => [index('task_looks_waiting').on(t.waitingSince).where(sql`${t.waitingSince} is not null`)],
);
