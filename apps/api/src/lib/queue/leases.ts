import { type Db, queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';

/** Leases go by the clock of the database: those of processes differ. In a long transaction it runs from the statement. */
export const leaseUntil = (ms: number): SQL<Date> =>
  sql`clock_timestamp() + make_interval(secs => ${ms / 1000}::float8)`;

/** Only the token's holder may complete, renew or hand back the row. */
export interface Lease<Id extends number | string = number | string> {
  id: Id;
  claimToken: string;
}

/** The columns are `id`, `claim_token` and `lease_until`. */
export interface LeasedTable<Id extends number | string> {
  name: string;
  alias: string;
  idType: Id extends number ? 'int' : 'uuid';
}

/** Returns the held ids. Locked rows count as held, without waiting: that prevents deadlocks. Plan: rows by primary key. */
export async function renewLeases<Id extends number | string>(
  db: Db,
  table: LeasedTable<Id>,
  leases: readonly Lease<Id>[],
  ms: number,
): Promise<Set<Id>> {
  const name = sql.raw(table.name);
  const held = await queryRows<{ id: Id }>(
    db,
    sql`
    with mine as (${selectLeases(table, leases)}), free as (
      select r.id from ${name} r join mine using (id) where r.claim_token = mine.claim_token
      for no key update of r skip locked
    ), renewed as (
      update ${name} r set lease_until = greatest(r.lease_until, ${leaseUntil(ms)}) from free where r.id = free.id
    )
    select r.id from ${name} r join mine using (id) where r.claim_token = mine.claim_token`,
  );
  return new Set(held.map(({ id }) => id));
}

export const hasExpiredLease = (alias: string): SQL => sql`${sql.raw(alias)}.lease_until < now()`;

export function isLeased<Id extends number | string>(table: LeasedTable<Id>, leases: readonly Lease<Id>[]): SQL {
  const alias = sql.raw(table.alias);
  return sql`(${alias}.id, ${alias}.claim_token) in (${selectLeases(table, leases)})`;
}

export const RELEASE_LEASE = sql`claim_token = null, lease_until = null`;

const selectLeases = <Id extends number | string>({ idType }: LeasedTable<Id>, leases: readonly Lease<Id>[]): SQL =>
  sql`select id, claim_token from ${recordset('l', leases, { id: idType, claimToken: 'uuid' })}`;

const MAX_SKEW_MS = 2000;

interface Dependencies {
  log: Pick<Logger, 'info' | 'warn'>;
  metrics: Pick<Metrics, 'clockCompared'>;
}

/** Compares the clock of this process with the database's, and logs once when they begin or cease to differ. */
export function createClockCheck({ log, metrics }: Dependencies) {
  let isSkewed = false;
  /** `askedAt` and `answeredAt` are of this process; the database read its clock in between. */
  return (databaseTime: Date, askedAt: Date, answeredAt: Date): void => {
    const marginMs = (answeredAt.getTime() - askedAt.getTime()) / 2;
    const skewMs = databaseTime.getTime() - askedAt.getTime() - marginMs;
    metrics.clockCompared(skewMs);
    const exceeds = Math.abs(skewMs) - marginMs > MAX_SKEW_MS;
    if (exceeds === isSkewed) return;
    isSkewed = exceeds;
    const fields = { clockSkewMs: Math.round(skewMs) };
    if (exceeds) {
      const side = skewMs > 0 ? 'behind' : 'ahead of';
      log.warn(fields, `the clock of this machine is ${side} the database's: synchronise both by NTP`);
    } else log.info(fields, "the clock of this machine agrees with the database's again");
  };
}
