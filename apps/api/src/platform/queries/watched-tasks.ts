import { type SQL, sql } from 'drizzle-orm';

/** Whether a task asks what changes: the texts of other tasks differ each time. `task` is an alias of the table. */
export const isWatched = (task: 't' | 'w' | 'tasks'): SQL => {
  const column = (name: string) => sql.raw(`"${task}"."${name}"`);
  return sql`(${column('notify')} = 'change' or ${column('watch')} <> '{}' or ${column('output_schema')} is not null)`;
};
