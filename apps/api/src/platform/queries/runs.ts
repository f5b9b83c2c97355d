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
      select id, created_at from executions e where e.user_id = ${userId} order by id desc limit ${number(MAX_UNSETTLED)}
    ) latest where created_at > ${new Date(now.getTime() - SETTLED_MS).toISOString()}::timestamptz),
    (select coalesce(max(e.id), 0) + 1 from executions e where e.user_id = ${userId}))`;

const selectUnseenFrom = (userId: SQL): SQL => sql`(select unseen_from_id from users owner where owner.id = ${userId})`;

/** For a statement in which `e` is `executions`: a run without news needs no eyes. */
const isNotSeen = (e: SQL): SQL =>
  sql`${e}.status in ('completed', 'failed') and ${e}.seen_at is null and ${e}.outcome is distinct from 'nothing_new'`;

/** The same of a user's runs. Those before `unseen_from_id` are left out without being read. */
export const isUnseen = (e: SQL, userId: SQL): SQL => sql`(${isNotSeen(e)} and ${e}.id >= ${selectUnseenFrom(userId)})`;

const MAX_COUNTED = 1000;

/** The unseen ones of the latest runs. As in `selectLatestRuns`, pairs make the planner follow the index of the user. */
export const countUnseenSql = (userId: SQL, limit = MAX_COUNTED): SQL<number> => sql`
  (select count(*)::int from (
    select status, outcome, seen_at from executions
    where (user_id, id) between (${userId}, ${selectUnseenFrom(userId)}) and (${userId}, ${number(MAX_ID)})
    order by user_id desc, id desc limit ${number(limit)}
  ) latest where ${isNotSeen(sql`latest`)})`;
