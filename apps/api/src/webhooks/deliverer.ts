import type { Context } from '../context.ts';
import { createBatcher } from '../queue/batcher.ts';
import { createHeartbeat } from '../queue/heartbeat.ts';
import { startInterval } from '../queue/interval.ts';
import { createLeaseHolder } from '../queue/lease-holder.ts';
import { singleFlight } from '../queue/single-flight.ts';
import { type ClaimedDelivery, claimDeliveries, type DeliveryLimits, FIRST, LIMITS } from './claim.ts';
import { type Attempt, attemptDelivery } from './deliver.ts';
import { handBack, queueRetries, renewLeases, rescueExpired } from './leases.ts';
import { pruneLog } from './prune-log.ts';
import { storeAttempts } from './settle.ts';
import { createSlots } from './slots.ts';

const POLL_MS = 1000;
const PRUNE_MS = 10_000;
const SETTLE_AT_ONCE = 200;
const LINGERS_AFTER_MS = 250;
const GRACE_MS = 20_000;

export interface Deliverer {
  /** Something new is queued: look at once. A poll would find it anyway, only later. */
  wake(): void;
  /** Whether its loop goes round. */
  isAlive(): boolean;
  /** Starts the background loop. */
  start(): void;
  /** Sends what is due until nothing is left that may be sent; for callers that wait, tests among them. */
  drain(): Promise<void>;
  /** Claims nothing more, waits for what is under way, and hands the rest back to the queue. */
  stop(): Promise<void>;
}

/** How the tests and the outside world differ. */
export interface DelivererOptions {
  graceMs?: number;
  lingersAfterMs?: number;
  limits?: DeliveryLimits;
}

/**
 * The delivery loop of a process: keeps up to `WEBHOOK_CONCURRENCY` deliveries under way, refilling as each one ends.
 * While some of them linger, a receiver that has none under way gets one in their place: so those that hang hold no
 * place that others need, and over all processes the claims see to that (decisions §8). Any number of equal processes
 * share one database.
 */
export function createDeliverer(
  ctx: Context,
  { graceMs = GRACE_MS, lingersAfterMs = LINGERS_AFTER_MS, limits = LIMITS }: DelivererOptions = {},
): Deliverer {
  const sending = createLeaseHolder<ClaimedDelivery, number>(ctx, {
    name: 'deliveries',
    idName: 'deliveryId',
    work: deliver,
    onEnd: lookOn,
    renew: (leases) => renewLeases(ctx, leases),
    rescue: () => rescueExpired(ctx),
    handBack: (leases) => handBack(ctx, leases),
  });
  /** Webhooks with new entries in their log. */
  const logged = new Set<string>();
  const loops: ReturnType<typeof startInterval>[] = [];
  const stopping = new AbortController();
  const closing = new AbortController();
  const pulse = createHeartbeat();
  const oneEach = { ...limits, answering: 1, others: 1 };
  const store = createBatcher((attempts: Attempt[]) => storeAttempts(ctx, attempts, closing.signal), SETTLE_AT_ONCE);
  const fill = singleFlight(claimRound, (error) => ctx.log.error({ err: error }, 'claiming deliveries failed'));
  const places = createSlots(ctx.config.webhookConcurrency, lingersAfterMs, lookOn);
  /** Whether the latest claim has left anything: for want of places here, or for limits that an end may lift. */
  let isFull = false;
  let more = false;

  let after = FIRST;
  /** Goes round the webhooks until no place is free, or a whole round was gone. */
  async function claimRound() {
    let wholeRound = after === FIRST;
    isFull = false;
    while (!stopping.signal.aborted) {
      // A round may go on for as long as deliveries end and others begin.
      pulse.beat();
      const { limit, spare } = places.free();
      isFull = limit === 0;
      if (isFull) return;
      const claim = await claimDeliveries(ctx, { limit, after, limits: spare ? oneEach : limits });
      for (const delivery of claim.claimed) sending.hold(delivery);
      ({ next: after, more } = claim);
      if (after !== FIRST) continue;
      if (wholeRound) return;
      wholeRound = true;
    }
  }

  async function deliver(delivery: ClaimedDelivery, signal: AbortSignal) {
    const attempt = await attemptDelivery(ctx, delivery, signal).finally(places.take());
    if (attempt === null) return;
    await store(attempt);
    logged.add(delivery.webhookId);
  }

  function lookOn() {
    if ((isFull || more) && !stopping.signal.aborted) void fill();
  }

  async function prune() {
    const webhookIds = [...logged];
    logged.clear();
    await pruneLog(ctx, webhookIds);
  }

  return {
    wake() {
      if (!stopping.signal.aborted) void ctx.trace.detached(fill);
    },
    isAlive: pulse.isAlive,
    start() {
      const every = (ms: number, name: string, work: () => Promise<unknown>) =>
        startInterval(ms, work, (error) => ctx.log.error({ err: error }, `${name} failed`));
      sending.start();
      loops.push(
        every(POLL_MS, 'looking for deliveries', async () => {
          pulse.beat();
          if (await sending.trackOutage(() => queueRetries(ctx))) await fill();
        }),
        every(PRUNE_MS, 'pruning the log of deliveries', prune),
      );
    },
    async drain() {
      for (;;) {
        await queueRetries(ctx);
        await fill();
        if (sending.size === 0) break;
        await sending.waitUntilEnded();
      }
      await prune();
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await fill();
      await sending.stop(graceMs, closing);
    },
  };
}
