import { MAX_ID } from '@carillon/contract/primitives';
import { type SQL, sql } from 'drizzle-orm';

const number = (value: number) => sql.raw(String(value));

/**
 * The latest runs of a task, newest first. The comparison of pairs makes the planner follow the index: by `task_id` alone it
 * may read and sort all runs, because it expects each task to have the average number of them.
 */
export const selectLatestRuns = (taskId: SQL, limit: number, offset = 0): SQL => sql`
  select * from (
    select * from executions where (task_id, id) <= (${taskId}, ${number(MAX_ID)})
    order by task_id desc, id desc limit ${number(limit)} offset ${number(offset)}
  ) latest where task_id = ${taskId}`;

/** Whether a task asks what changes: the texts of other tasks differ each time. `task` is an alias of the table. */
export const isWatched = (task: 't' | 'w' | 'tasks'): SQL => {
  const column = (name: string) => sql.raw(`"${task}"."${name}"`);
  return sql`(${column('notify')} = 'change' or ${column('watch')} <> '{}' or ${column('output_schema')} is not null)`;
};

/** Triggers of the executions of planned instants: of each instant there is at most one, besides its retries. */
const PLANNED_TRIGGERS = ['schedule', 'backfill'];

export const isPlannedTrigger = (trigger: string): boolean => PLANNED_TRIGGERS.includes(trigger);

/** The same of the executions with this alias. The words are literal, so that the unique index of the instants is used. */
export const hasPlannedTrigger = (alias: string): SQL =>
  sql.raw(`${alias}.trigger in (${PLANNED_TRIGGERS.map((trigger) => `'${trigger}'`).join(', ')})`);

const SETTLED_MS = 10 * 60_000;
/** More than a quota allows in ten minutes. */
const MAX_UNSETTLED = 2000;

/**
 * The smallest id of a user below which every run has ended: none is live, and none is of a transaction that may not be
 * visible yet.
 */
export const selectFirstUnsettled = (userId: SQL, now: Date): SQL => sql`
  least(
    (select min(l.id) from executions_live l where l.user_id = ${userId} and l.status in ('pending', 'running')),
    (select min(id) from (
      select id, created_at from executions e where e.user_id = ${userId} order by id desc limit ${sql.raw(String(MAX_UNSETTLED))}
    ) latest where created_at > ${new Date(now.getTime() - SETTLED_MS).toISOString()}::timestamptz),
    (select coalesce(max(e.id), 0) + 1 from executions e where e.user_id = ${userId}))`;

const MAX_COUNTED = 1000;

/** A run without news needs no eyes. */
export const isToSee = sql`status in ('completed', 'failed') and outcome is distinct from 'nothing_new'`;

/** The unseen ones of the latest runs. */
export const countUnseenSql = (userId: SQL, limit = MAX_COUNTED): SQL<number> => sql`
  (select count(*)::int from (
    select e.status, e.outcome, e.seen_at from executions e
    where e.user_id = ${userId} and e.id >= (select unseen_from_id from users u where u.id = ${userId})
    order by e.id desc limit ${sql.raw(String(limit))}
  ) latest where ${isToSee} and seen_at is null)`;
