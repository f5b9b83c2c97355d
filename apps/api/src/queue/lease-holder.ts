import type { Context } from '../context.ts';
import { startInterval } from './interval.ts';

const RESCUE_MS = 5000;

/** A row that this process works on; whoever holds its token may end it. */
export interface Claim {
  id: number | string;
  claimToken: string;
}
export type Lease<C extends Claim> = Pick<C, 'id' | 'claimToken'>;

/** What the holder has to know of the rows that are claimed. */
export interface LeaseHandlers<C extends Claim, Rescued> {
  /** What a log line calls them. */
  name: 'executions' | 'deliveries';
  /** Under what the id of one stands in a log line. */
  idName: string;
  /** Works on one until it has ended, and gives up when `signal` says so. A rejection leaves it to its lease. */
  work(claim: C, signal: AbortSignal): Promise<void>;
  /** Called whenever one that was not released has ended, so a place is free. */
  onEnd(): void;
  /** Prolongs the leases that are still held, and returns their ids. */
  renew(leases: Lease<C>[]): Promise<ReadonlySet<C['id']>>;
  /** Takes over what others hold and no longer renew. */
  rescue(): Promise<Rescued>;
  /** Gives back what could not be ended in time. */
  handBack(leases: Lease<C>[]): Promise<void>;
}

export interface LeaseHolder<C extends Claim, Rescued> {
  readonly size: number;
  begin(claim: C): void;
  /** Holds these no longer: their rows have ended. */
  release(claims: readonly Lease<C>[]): void;
  /** Gives up those of these that are held. */
  abort(ids: readonly C['id'][]): void;
  /** Waits for all that are held now. */
  ended(): Promise<void>;
  /** Takes over what others have left; undefined when this process may be the one that was away. */
  rescue(): Promise<Rescued | undefined>;
  /** Runs other work on the same rows: when it fails, nobody's lease says anything for a while. */
  trackOutage<T>(work: () => Promise<T>): Promise<T>;
  /** Begins to renew and to rescue. */
  start(): void;
  /** Waits up to `graceMs` for what is held, then aborts `closing`, gives up what is left and hands it back. */
  stop(graceMs: number, closing: AbortController): Promise<void>;
}

/**
 * The claims that a process holds, of executions or of deliveries alike: begins each, keeps its lease, gives it up when
 * it was lost, and at the end hands back what has not ended.
 */
export function createLeaseHolder<C extends Claim, Rescued>(
  { config, log, metrics }: Pick<Context, 'config' | 'log' | 'metrics'>,
  kind: LeaseHandlers<C, Rescued>,
): LeaseHolder<C, Rescued> {
  const held = new Map<C['id'], { claim: C; abort: AbortController; ended: Promise<void> }>();
  const loops: ReturnType<typeof startInterval>[] = [];
  let renewing: ReturnType<typeof startInterval> | undefined;
  let outageAt = Number.NEGATIVE_INFINITY;
  metrics.inFlight(kind.name, () => held.size);

  const leases = () => [...held.values()].map(({ claim: { id, claimToken } }): Lease<C> => ({ id, claimToken }));

  /** A failure is the database's, as far as anybody can tell. */
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
    const mine = leases();
    const kept = await kind.renew(mine);
    for (const { id, claimToken } of mine) {
      const one = held.get(id);
      if (!kept.has(id) && one?.claim.claimToken === claimToken) one.abort.abort();
    }
  }

  async function rescue() {
    // After an outage of the database or a stall the leases of living processes have run out too: they renew first.
    await renew();
    return performance.now() - outageAt < config.executionLeaseMs ? undefined : kind.rescue();
  }

  async function ended() {
    await Promise.all([...held.values()].map((one) => one.ended));
  }

  function abort(ids: readonly C['id'][]) {
    for (const id of ids) held.get(id)?.abort.abort();
  }

  function every(ms: number, name: string, work: () => Promise<unknown>) {
    return startInterval(
      ms,
      () => trackOutage(work),
      (error) => log.error({ err: error }, `${name} failed`),
    );
  }

  return {
    get size() {
      return held.size;
    },
    begin(claim) {
      // Lost to another process and back again: the earlier claim counts no more.
      held.get(claim.id)?.abort.abort();
      const abort = new AbortController();
      const ended = kind
        .work(claim, abort.signal)
        .catch((error) =>
          log.error({ err: error, [kind.idName]: claim.id }, `one of the ${kind.name} was left to its lease`),
        )
        .then(() => {
          if (held.get(claim.id)?.abort !== abort) return;
          held.delete(claim.id);
          kind.onEnd();
        });
      held.set(claim.id, { claim, abort, ended });
    },
    release(claims) {
      for (const { id, claimToken } of claims) if (held.get(id)?.claim.claimToken === claimToken) held.delete(id);
    },
    abort,
    ended,
    rescue,
    trackOutage,
    start() {
      renewing = every(config.executionLeaseMs / 3, `renewing the leases of ${kind.name}`, renew);
      loops.push(every(Math.min(RESCUE_MS, config.executionLeaseMs / 2), `rescuing ${kind.name}`, rescue));
    },
    async stop(graceMs, closing) {
      await Promise.all(loops.map((loop) => loop.stop()));
      const all = ended();
      const timer = setTimeout(() => closing.abort(), graceMs);
      const cut = new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()));
      await Promise.race([all, cut]);
      clearTimeout(timer);
      // Not before: what is still waited for must not be taken over meanwhile.
      await renewing?.stop();
      const left = leases();
      abort(left.map(({ id }) => id));
      // The aborted ones end at once; what is just being stored is not handed back.
      await all;
      await kind.handBack(left).catch((error) => {
        log.error({ err: error }, `the ${kind.name} could not be handed back: they are left to their leases`);
      });
    },
  };
}
