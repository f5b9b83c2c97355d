import { rows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from './context.ts';

/** Short statements, so that no request ever waits long for one. */
const BATCH = 1000;
/** The clocks of two processes differ: what has only just ended for one may still count for another. */
const MARGIN_MS = 60_000;
/**
 * A reset token reads as unknown from then on; mail is kept for so long once it was sent or given up, and a delivery that
 * failed, so that it can be sent again.
 */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Deletes what is over and nobody looks at any more: rate-limit windows, sessions, reset tokens, failed
 * deliveries, mail. Any number of processes may do so at once, since each takes the rows that nobody holds. Ends early
 * when the process stops.
 */
export async function prune(ctx: Context): Promise<void> {
  const now = ctx.now().getTime();
  const past = new Date(now - MARGIN_MS).toISOString();
  const old = new Date(now - KEPT_MS).toISOString();
  await deleteWhere(ctx, 'rate_windows', 'key', sql`ends_at < ${past}`);
  await deleteWhere(ctx, 'sessions', 'id', sql`expires_at < ${past}`);
  await deleteWhere(ctx, 'password_resets', 'token_hash', sql`created_at < ${old}`);
  const unlogged = sql`not exists (select from delivery_attempts a where a.delivery_id = deliveries.id)`;
  await deleteWhere(ctx, 'deliveries', 'id', sql`status = 'failed' and ended_at < ${old} and ${unlogged}`);
  await deleteWhere(ctx, 'mails', 'id', sql`next_attempt_at is null and created_at < ${old}`);
}

async function deleteWhere({ db, worker }: Context, table: string, key: string, isOver: SQL): Promise<void> {
  const [from, id] = [sql.identifier(table), sql.identifier(key)];
  let deleted: unknown[];
  do {
    deleted = await rows(
      db,
      sql`
      delete from ${from} where ${id} in (
        select ${id} from ${from} where ${isOver} limit ${BATCH} for update skip locked)
      returning 1`,
    );
  } while (deleted.length === BATCH && !worker.stopping.aborted);
}
