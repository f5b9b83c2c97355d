import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';

/** Longer queues are not counted to their end: that would take its time, and tells nobody more. */
const COUNTED_AT_MOST = 100_000;

/** What waits in the database, the same for all processes. */
export interface Queues {
  /** How long the oldest of what is due has not been taken up, tasks and retries; 0 when nothing is. */
  oldestDueMs: number;
  /** Executions that may start, deliveries that may be sent, mail that is to be sent, now or again; 100,000 at most. */
  executions: number;
  deliveries: number;
  mails: number;
  maintenance: boolean;
}

/** Reads how much waits, from partial indexes which hold nothing else. */
export async function readQueues(ctx: Context): Promise<Queues> {
  const [found] = await queryRows<Omit<Queues, 'oldestDueMs'> & { dueAt: string | null }>(
    ctx.db,
    sql`
    select least(
        (select min(next_execution_at) from tasks where next_execution_at is not null),
        (select min(run_at) from executions where status = 'pending' and queued_at is null)
      ) as "dueAt",
      (select count(*)::int from (
        select from executions where status = 'pending' and queued_at is not null limit ${COUNTED_AT_MOST}) q) as executions,
      (select count(*)::int from (
        select from deliveries where status = 'pending' and queued_at is not null limit ${COUNTED_AT_MOST}) q) as deliveries,
      (select count(*)::int from (
        select from mails where next_attempt_at is not null limit ${COUNTED_AT_MOST}) q) as mails,
      (select maintenance_mode from settings) as maintenance`,
  );
  if (!found) throw new Error('The statement has returned no row.');
  const { dueAt, ...queues } = found;
  const oldestDueMs = Math.max(
    0,
    ctx.now().getTime() - (toInstantOrNull(dueAt)?.getTime() ?? Number.POSITIVE_INFINITY),
  );
  return { ...queues, oldestDueMs };
}
