import { type Db, queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createIntervals } from './loops.ts';

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

const RESCUE_MS = 5000;

interface LeaseHandlers<Row extends Lease, Rescued> {
  name: 'executions' | 'deliveries' | 'looks';
  idName: string;
  /** After a rejection the lease expires. */
  work(row: Row, signal: AbortSignal): Promise<void>;
  onEnd(): void;
  /** Returns the ids that are still held. */
  renew(leases: Lease<Row['id']>[]): Promise<ReadonlySet<Row['id']>>;
  rescue(): Promise<Rescued>;
  handBack(leases: Lease<Row['id']>[]): Promise<void>;
}

interface LeaseHolder<Row extends Lease, Rescued> {
  /** With the rows of `addUnanswered` until the first check. */
  readonly size: number;
  hold(row: Row): void;
  /** Rows of a claim whose commit was not answered. */
  addUnanswered(rows: readonly Row[]): void;
  /** Holds those that are claimed. */
  checkUnanswered(): Promise<void>;
  abort(ids: readonly Row['id'][]): void;
  listLeases(): Lease<Row['id']>[];
  /** Aborts the rows that are still held with these claims. */
  abortLost(leases: readonly Lease<Row['id']>[]): void;
  waitUntilEnded(): Promise<void>;
  rescue(): Promise<Rescued | undefined>;
  /** A failure of `work` counts as an outage. */
  trackOutage<T>(work: () => Promise<T>): Promise<T>;
  start(): void;
  /** Waits up to `graceMs`, then aborts `closing` and hands the rest back. */
  stop(graceMs: number, closing: AbortController): Promise<void>;
}

interface HolderDependencies {
  config: Pick<Config, 'executionLeaseMs'>;
  log: Pick<Logger, 'error'>;
  metrics: Pick<Metrics, 'inFlight'>;
}

export function createLeaseHolder<Row extends Lease, Rescued>(
  { config, log, metrics }: HolderDependencies,
  handlers: LeaseHandlers<Row, Rescued>,
): LeaseHolder<Row, Rescued> {
  const { name } = handlers;
  const held = new Map<Row['id'], { claimToken: string; abort: AbortController; ended: Promise<void> }>();
  const rescuing = createIntervals(log);
  const renewing = createIntervals(log);
  const unanswered = createUnansweredClaims<Row>(config.executionLeaseMs, handlers.renew);
  let outageAt = Number.NEGATIVE_INFINITY;
  metrics.inFlight(name, () => held.size);

  const listLeases = () => [...held].map(([id, { claimToken }]): Lease<Row['id']> => ({ id, claimToken }));

  async function trackOutage<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      outageAt = performance.now();
      throw error;
    }
  }

  async function renew() {
    if (held.size === 0) return;
    const leases = listLeases();
    const stillHeld = await handlers.renew(leases);
    abortLost(leases.filter(({ id }) => !stillHeld.has(id)));
  }

  function abortLost(leases: readonly Lease<Row['id']>[]) {
    for (const { id, claimToken } of leases) {
      const entry = held.get(id);
      if (entry?.claimToken === claimToken) entry.abort.abort();
    }
  }

  async function rescue() {
    // After an outage the leases of living processes have expired too.
    await renew();
    return performance.now() - outageAt < config.executionLeaseMs ? undefined : handlers.rescue();
  }

  function hold(row: Row) {
    // The row was lost and claimed again: the earlier work no longer counts.
    held.get(row.id)?.abort.abort();
    const abort = new AbortController();
    const ended = handlers
      .work(row, abort.signal)
      .catch((error) =>
        log.error(
          { err: error, [handlers.idName]: row.id },
          `work on ${name} failed: taken over when its lease expires`,
        ),
      )
      .then(() => {
        if (held.get(row.id)?.abort !== abort) return;
        held.delete(row.id);
        handlers.onEnd();
      });
    held.set(row.id, { claimToken: row.claimToken, abort, ended });
  }

  async function waitUntilEnded() {
    await Promise.all([...held.values()].map(({ ended }) => ended));
  }

  function abort(ids: readonly Row['id'][]) {
    for (const id of ids) held.get(id)?.abort.abort();
  }

  return {
    get size() {
      return held.size + unanswered.unchecked;
    },
    hold,
    addUnanswered: unanswered.add,
    async checkUnanswered() {
      for (const row of await unanswered.takeClaimed()) hold(row);
    },
    abort,
    listLeases,
    abortLost,
    waitUntilEnded,
    rescue,
    trackOutage,
    start() {
      const { executionLeaseMs: leaseMs } = config;
      renewing.every(leaseMs / 3, `renewing the leases of ${name}`, () => trackOutage(renew));
      rescuing.every(Math.min(RESCUE_MS, leaseMs / 2), `rescuing ${name}`, () => trackOutage(rescue));
    },
    async stop(graceMs, closing) {
      await rescuing.stop();
      const ended = waitUntilEnded();
      const timer = setTimeout(() => closing.abort(), graceMs);
      const closed = new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()));
      await Promise.race([ended, closed]);
      clearTimeout(timer);
      // Until here, rows in work must not be taken over.
      await renewing.stop();
      const left = listLeases();
      abort(left.map(({ id }) => id));
      // A row that is being stored is not handed back.
      await ended;
      await handlers.handBack(left).catch((error) => {
        log.error({ err: error }, `${name} could not be returned to the queue: taken over when their leases expire`);
      });
    },
  };
}

interface Unanswered<Row> {
  row: Row;
  /** By `performance.now()`. Until then the commit may still take effect, for example while it waits for a standby. */
  until: number;
  isChecked: boolean;
}

interface UnansweredClaims<Row extends Lease> {
  /** How many may be claimed, as no check has shown otherwise. */
  readonly unchecked: number;
  add(rows: readonly Row[]): void;
  /** Removes and returns the rows that turned out to be claimed, with renewed leases. */
  takeClaimed(): Promise<Row[]>;
}

/**
 * Rows of claims whose commit was not answered, because the connection was lost: if it took effect, they would otherwise
 * wait until their leases expire.
 */
export function createUnansweredClaims<Row extends Lease>(
  leaseMs: number,
  renew: (leases: Lease<Row['id']>[]) => Promise<ReadonlySet<Row['id']>>,
): UnansweredClaims<Row> {
  const claims = new Map<Row['id'], Unanswered<Row>>();
  return {
    get unchecked() {
      return [...claims.values()].filter(({ isChecked }) => !isChecked).length;
    },
    add(rows) {
      const until = performance.now() + leaseMs;
      for (const row of rows) claims.set(row.id, { row, until, isChecked: false });
    },
    async takeClaimed() {
      if (claims.size === 0) return [];
      const asked = [...claims.values()];
      const claimedIds = await renew(asked.map(({ row: { id, claimToken } }) => ({ id, claimToken })));
      // Another check may have taken some during `renew`.
      const left = asked.filter((one) => claims.get(one.row.id) === one);
      for (const one of left) {
        one.isChecked = true;
        if (claimedIds.has(one.row.id) || performance.now() > one.until) claims.delete(one.row.id);
      }
      return left.map(({ row }) => row).filter(({ id }) => claimedIds.has(id));
    },
  };
}
