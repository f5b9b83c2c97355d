import { randomInt } from 'node:crypto';
import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';

/** Of all processes: each running execution has one of as many slots. */
const MAX_RUNNING = 1000;
/** Each lock has an entry in a table of the whole server. */
const MAX_TAKEN = 200;

const isFree = sql`not exists (select from executions_live r where r.status = 'running' and r.slot = s.slot)`;

/**
 * Returns up to `count` free slots, which no other claim takes before the end of the transaction. Looks from a random one on,
 * so that few claims find the same. Plan: a probe of `executions_slots` for each.
 */
export async function takeSlots({ db }: Context, count: number): Promise<{ slots: number[]; isContended: boolean }> {
  const [[tried], free] = await Promise.all([
    queryRows<{ isContended: boolean }>(
      db,
      sql`
      with free as materialized (
        select s.slot from (
          select (${randomInt(MAX_RUNNING)}::int + step) % ${MAX_RUNNING}::int + 1 as slot from generate_series(0, ${MAX_RUNNING - 1}::int) step
        ) s
        where ${isFree} limit ${Math.min(count, MAX_TAKEN)}
      ), locked as materialized (
        select slot from free where pg_try_advisory_xact_lock(${ADVISORY_LOCKS.slots}, slot)
      )
      select set_config('carillon.slots', coalesce(array_agg(slot), '{}')::text, true),
        count(*) < (select count(*) from free) as is_contended
      from locked`,
    ),
    // A second statement: its snapshot must be taken under the locks.
    queryRows<{ slot: number }>(
      db,
      sql`select slot from unnest(current_setting('carillon.slots')::int[]) s(slot) where ${isFree}`,
    ),
  ]);
  return { slots: free.map(({ slot }) => slot), isContended: tried?.isContended ?? false };
}
