import { type SQL, sql } from 'drizzle-orm';

/** Instants that were recorded at most this long after each other belong to one outage. */
const GAP_SECONDS = 60;
const MAX_OUTAGES = 3;
const NEWEST_TASKS = 1000;

/**
 * When planned runs did not take place in time, newest first: from the first of them until they were recorded, how many there
 * were, and how many of them ran late.
 */
export const selectOutages = (userId: SQL, since: Date): SQL => sql`
  (select coalesce(json_agg(json_build_object('from', o.from, 'until', o.until, 'missed', o.missed, 'madeUp', o.made_up)
      order by o.until desc), '[]') from (
    select min(planned_for) as from, max(recorded_at) as until, count(*)::int as missed,
      (count(*) filter (where fate = 'late'))::int as made_up
    from (
      select *, sum(is_first) over (order by recorded_at, planned_for) as outage from (
        select o.planned_for, o.recorded_at, o.fate,
          case when o.recorded_at - lag(o.recorded_at) over (order by o.recorded_at, o.planned_for)
            <= ${GAP_SECONDS}::int * interval '1 second' then 0 else 1 end as is_first
        from (select id from tasks where user_id = ${userId} order by id desc limit ${NEWEST_TASKS}) t
        join occurrences o on o.task_id = t.id and o.fate in ('missed', 'late')
          and o.recorded_at > ${since.toISOString()}::timestamptz
        where not exists (select from executions e where e.task_id = o.task_id and e.planned_for = o.planned_for
          and e.trigger = 'backfill')
      ) marked
    ) grouped
    group by outage order by max(recorded_at) desc limit ${MAX_OUTAGES}) o)`;
