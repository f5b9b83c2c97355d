import { sql } from 'drizzle-orm';
import { bigint, customType, index, integer, pgTable } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { tasks } from './tasks.ts';

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });

/**
 * The words of the prompt and the result of each run that has ended, written after the run: no run waits for it. `words` also
 * has the word `user:<id>`, so that one index finds those of a user.
 */
export const runTexts = pgTable(
  'run_texts',
  {
    executionId: integer('execution_id').primaryKey(),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    words: tsvector().notNull(),
  },
  (t) => [index('run_texts_words').using('gin', t.words), index('run_texts_of_task').on(t.taskId)],
);

/** How far the runs of a user are in `run_texts`. */
export const searchPositions = pgTable('search_positions', {
  userId: integer('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** The latest event of the user when its runs were read. */
  lastEventId: bigint('last_event_id', { mode: 'number' }).notNull().default(sql`0`),
  /** Every run with a smaller id has ended and is there. */
  fromId: integer('from_id').notNull().default(1),
});
