import { type Db, queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

/** A claimed row. Only the holder of its token may complete it, renew its lease or hand it back. */
export interface Lease<Id extends number | string = number | string> {
  id: Id;
  claimToken: string;
}

/** A table with the columns `id`, `claim_token` and `lease_until`. The fragments below name its rows by `alias`. */
export interface LeasedTable<Id extends number | string> {
  name: string;
  alias: string;
  idType: Id extends number ? 'int' : 'uuid';
}

/**
 * Extends the leases until `until` and returns the ids whose tokens still match. The work of a missing id must be
 * aborted: its row was taken over or deleted. Locked rows are skipped, not waited for, so that two transactions of
 * many rows cannot deadlock; their leases count as held.
 */
export async function renewLeases<Id extends number | string>(
  db: Db,
  table: LeasedTable<Id>,
  leases: readonly Lease<Id>[],
  until: Date,
): Promise<Set<Id>> {
  const name = sql.raw(table.name);
  const held = await queryRows<{ id: Id }>(
    db,
    sql`
    with mine as (${selectLeases(table, leases)}), free as (
      select r.id from ${name} r join mine using (id) where r.claim_token = mine.token
      for no key update of r skip locked
    ), renewed as (
      update ${name} r set lease_until = greatest(r.lease_until, ${until.toISOString()}) from free where r.id = free.id
    )
    select r.id from ${name} r join mine using (id) where r.claim_token = mine.token`,
  );
  return new Set(held.map(({ id }) => id));
}

/** Condition: the lease of the row `alias` has expired, so its holder died or stalled. */
export const hasExpiredLease = (alias: string, now: Date): SQL =>
  sql`${sql.raw(alias)}.lease_until < ${now.toISOString()}`;

/** Condition: the row is still held under one of these leases. */
export function isLeased<Id extends number | string>(table: LeasedTable<Id>, leases: readonly Lease<Id>[]): SQL {
  const alias = sql.raw(table.alias);
  return sql`(${alias}.id, ${alias}.claim_token) in (${selectLeases(table, leases)})`;
}

/** Assignments that end a lease. */
export const RELEASE_LEASE = sql`claim_token = null, lease_until = null`;

function selectLeases<Id extends number | string>({ idType }: LeasedTable<Id>, leases: readonly Lease<Id>[]): SQL {
  const records = recordset(leases.map(({ id, claimToken }) => ({ id, token: claimToken })));
  return sql`select id, token from jsonb_to_recordset(${records}::jsonb) as l(id ${sql.raw(idType)}, token uuid)`;
}
