import { randomUUID } from 'node:crypto';
import { queryRows, recordset, type TaskSource } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import {
  isLeased,
  type Lease,
  type LeasedTable,
  leaseUntil,
  RELEASE_LEASE,
  renewLeases,
} from '../../../lib/queue/leases.ts';
import { inTransaction } from '../../../transaction.ts';

/** Of one user, over all processes, as far as claims see each other. */
const MAX_LOOKS_PER_USER = 40;
const LOOKS: LeasedTable<number> = { name: 'task_looks', alias: 'l', idType: 'int' };

/** A task whose sources this process looks at. */
export interface ClaimedLook extends Lease<number> {
  userId: number;
  sources: TaskSource[];
}

/** Queues looks for due instants. The caller has locked the tasks. */
export async function queueLooks(
  { db, now }: Context,
  waiting: readonly { taskId: number; at: Date }[],
): Promise<void> {
  if (waiting.length === 0) return;
  await db.execute(sql`
    insert into task_looks as l (id, instants, waiting_since)
    select task_id, array_agg(at order by at), ${now().toISOString()}::timestamptz
    from ${recordset('w', waiting, { taskId: 'int', at: 'timestamptz' })} group by task_id
    on conflict (id) do update set instants = l.instants || excluded.instants,
      waiting_since = coalesce(l.waiting_since, excluded.waiting_since)`);
}

/**
 * Claims looks that wait, and those of processes that died. Users take turns, so that one with many tasks does not hold up the
 * others. Plan: `task_looks_waiting`, then tasks by primary key.
 */
export function claimLooks(ctx: Context, limit: number): Promise<ClaimedLook[]> {
  return queryRows<ClaimedLook>(
    ctx.db,
    sql`
    with waiting as (
      select l.id, t.user_id, l.waiting_since, (l.lease_until >= now()) is true as is_held
      from task_looks l join tasks t using (id) where l.waiting_since is not null and not (select maintenance_mode from settings)
    ), ordered as (
      select id, row_number() over (partition by user_id, is_held order by waiting_since, id) as place, waiting_since, is_held,
        count(*) filter (where is_held) over (partition by user_id) as held
      from waiting
    ), picked as (
      select l.id from ordered o join task_looks l using (id)
      where not o.is_held and o.place + o.held <= ${MAX_LOOKS_PER_USER}
        and l.waiting_since is not null and (l.lease_until >= now()) is not true
      order by o.place, o.waiting_since limit ${limit} for no key update of l skip locked
    )
    update task_looks l set claim_token = ${randomUUID()}, lease_until = ${leaseUntil(ctx.config.executionLeaseMs)}
    from picked join tasks t on t.id = picked.id
    where l.id = picked.id
    returning l.id, l.claim_token, t.user_id, t.sources`,
  );
}

export function renewLooks(ctx: Context, leases: readonly Lease<number>[]): Promise<Set<number>> {
  return inTransaction(ctx, (tx) => renewLeases(tx.db, LOOKS, leases, ctx.config.executionLeaseMs));
}

export async function handBackLooks({ db }: Context, leases: readonly Lease<number>[]): Promise<void> {
  if (leases.length === 0) return;
  await db.execute(sql`update task_looks l set ${RELEASE_LEASE} where ${isLeased(LOOKS, leases)}`);
}

/** Plan: an index that has only what waits. */
export async function isAnyLookWaiting({ db }: Context): Promise<boolean> {
  const [row] = await queryRows<{ found: boolean }>(
    db,
    sql`select exists (
      select from task_looks where waiting_since is not null and (lease_until >= now()) is not true
    ) as found`,
  );
  return row?.found ?? false;
}

export const isLookHeld = (leases: readonly Lease<number>[]): SQL => isLeased(LOOKS, leases);

/** Of the alias `t` of `tasks`. */
export const hasWaitingLook = sql`exists (select from task_looks l where l.id = t.id and l.waiting_since is not null)`;
