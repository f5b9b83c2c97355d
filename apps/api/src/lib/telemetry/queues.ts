import { sql } from 'drizzle-orm';

/** Counting longer queues to their end would be slow. */
const MAX_QUEUE_COUNT = 100_000;

/** Each count reads a partial index that contains only queued rows. */
export const queuesQuery = sql`
  select least(
      (select min(next_execution_at) from tasks where next_execution_at is not null),
      (select min(run_at) from executions_live where status = 'pending' and queued_at is null)
    ) as due_at,
    (select count(*)::int from (
      select from executions_live where status = 'pending' and queued_at is not null limit ${MAX_QUEUE_COUNT}) q) as executions,
    (select count(*)::int from (
      select from deliveries where status = 'pending' and queued_at is not null limit ${MAX_QUEUE_COUNT}) q) as deliveries,
    (select count(*)::int from (
      select from mails where next_attempt_at is not null limit ${MAX_QUEUE_COUNT}) q) as mails,
    (select count(*)::int from (
      select from task_looks where waiting_since is not null limit ${MAX_QUEUE_COUNT}) q) as looks,
    (select maintenance_mode from settings) as maintenance,
    (select last_called_at from scheduler_state) as called_at`;
