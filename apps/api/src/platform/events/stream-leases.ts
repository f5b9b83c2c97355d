import { randomUUID } from 'node:crypto';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { leaseUntil } from '../../lib/queue/leases.ts';
import { inTransaction } from '../../transaction.ts';

export const MAX_STREAMS_PER_USER = 5;
export const LEASE_MS = 15_000;

/** Returns null if the user has `MAX_STREAMS_PER_USER` streams open, over all processes. */
export function openLease(ctx: Context, caller: Pick<Caller, 'id' | 'sessionId' | 'apiKey'>) {
  const { id: userId, sessionId, apiKey } = caller;
  return inTransaction(ctx, async (tx): Promise<string | null> => {
    const id = randomUUID();
    const [, opened] = await Promise.all([
      // Two statements: the snapshot of the second one must be taken under the lock.
      queryRows(tx.db, sql`select from users where id = ${userId} for no key update`),
      queryRows(
        tx.db,
        sql`
        insert into event_streams (id, user_id, session_id, api_key_id, lease_until)
        select ${id}::uuid, ${userId}::int, ${sessionId}::uuid, ${apiKey?.id ?? null}::uuid, ${leaseUntil(LEASE_MS)}
        where (
          select count(*) from event_streams where user_id = ${userId} and lease_until > now()) < ${MAX_STREAMS_PER_USER}
        returning 1`,
      ),
    ]);
    return opened.length === 0 ? null : id;
  });
}

/**
 * Returns the streams that may continue: their lease has not expired, and their account and their session or key still exist.
 * Locked rows are skipped without waiting, which prevents deadlocks. Deletes the leases of processes that died.
 */
export async function renewLeases(ctx: Context, ids: readonly string[]): Promise<Set<string>> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const held = await queryRows<{ id: string }>(
    ctx.db,
    sql`
    with held as (
      select e.id from event_streams e join users u on u.id = e.user_id
        left join sessions s on s.id = e.session_id left join api_keys k on k.id = e.api_key_id
      where e.id = any(${toUuids(ids)}) and e.lease_until > now() and u.is_active
        and (s.expires_at > ${now} or k.id is not null and coalesce(k.expires_at > ${now}, true))
    ), free as (
      select id from event_streams where id in (select id from held) for no key update skip locked
    ), renewed as (
      update event_streams e set lease_until = ${leaseUntil(LEASE_MS)} from free where e.id = free.id
    ), expired as (
      select id from event_streams where lease_until <= now() for update skip locked
    ), deleted as (
      delete from event_streams e using expired where e.id = expired.id
    )
    select id from held`,
  );
  return new Set(held.map(({ id }) => id));
}

/** Leases in rows that are locked end by themselves. */
export async function endLeases(ctx: Context, ids: readonly string[]): Promise<void> {
  await queryRows(
    ctx.db,
    sql`
    with free as (select id from event_streams where id = any(${toUuids(ids)}) for update skip locked)
    delete from event_streams e using free where e.id = free.id`,
  );
}

const toUuids = (ids: readonly string[]) => sql`${`{${ids.join(',')}}`}::uuid[]`;
