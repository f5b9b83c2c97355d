import { preparedQuery } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { countUnseenSql } from '../../platform/queries/runs.ts';
import { isFailingSql, selectLastFailure } from './alerts/acknowledge.ts';

/** What every page shows. */
interface PageState {
  /** Notifications; at most 100. */
  unread: number;
  /** Of the latest 300 runs, those that have ended and were not seen yet. */
  unseenRuns: number;
  /** Whether a task fails or was stopped, or a webhook or channel is off, and nobody has put it away. */
  hasTrouble: boolean;
  /** The position of the event log before the page is read; 0 for an empty log. */
  lastEventId: number;
}

const MAX_UNREAD = 100;
const MAX_RUNS = 300;
const MAX_FAILING = 100;
const userId = sql`${sql.placeholder('userId')}::int`;

const query = preparedQuery(
  (db) =>
    db
      .select({
        unread: sql<number>`(select count(*)::int from (select from notifications n
          where n.user_id = ${userId} and n.read_at is null limit ${sql.raw(String(MAX_UNREAD))}) n)`.as('unread'),
        unseenRuns: countUnseenSql(userId, MAX_RUNS).as('unseen_runs'),
        hasTrouble: sql<boolean>`(exists (
          select from (
            select * from tasks where user_id = ${userId} and consecutive_failures > 0
            order by id desc limit ${sql.raw(String(MAX_FAILING))}
          ) t left join lateral (${selectLastFailure(sql`t.id`)}) e on true where ${isFailingSql}
        ) or exists (select from endpoints w where w.user_id = ${userId} and w.status = 'failed'))`.as('has_trouble'),
        lastEventId: sql<number>`coalesce((select p.last_id from event_positions p
          where p.user_id = ${userId}), 0)::float8`.as('last_event_id'),
      })
      .from(sql`(select) one`)
      .prepare('page_state'),
  { connection: 'shared' },
);

export async function readPageState(ctx: Context, userId: number): Promise<PageState> {
  const [state] = await query(ctx.db).execute({ userId });
  if (!state) throw new Error('The state of a page has no row.');
  return state;
}
