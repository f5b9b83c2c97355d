import type { Context } from '../../../context.ts';
import { createLeaseHolder } from '../../../lib/queue/leases.ts';
import { createBatcher, createHeartbeat, createIntervals, singleFlight } from '../../../lib/queue/loops.ts';
import { type Attempt, attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, claimDeliveries, DELIVERY_LIMITS, type DeliveryLimits, FIRST_WEBHOOK } from './claim.ts';
import { storeAttempts } from './complete.ts';
import { releaseHeld } from './held/release.ts';
import { enqueueDueRetries, handBackDeliveries, renewDeliveries, rescueDeliveries } from './leases.ts';
import { pruneLog } from './log.ts';

const POLL_MS = 1000;
const PRUNE_MS = 10_000;
const MAX_BATCH = 200;
const SLOW_AFTER_MS = 250;
const GRACE_MS = 20_000;

interface Deliverer {
  /** Looks for queued deliveries at once instead of at the next poll. */
  wake(): void;
  isAlive(): boolean;
  start(): void;
  /** Sends everything that may be sent now, and returns when nothing is left. */
  drain(): Promise<void>;
  /** Stops claiming, waits for the deliveries in progress, and hands the rest back to the queue. */
  stop(): Promise<void>;
}

export interface DelivererOptions {
  graceMs?: number;
  slowAfterMs?: number;
  limits?: DeliveryLimits;
}

/** Keeps up to `WEBHOOK_CONCURRENCY` deliveries in progress. Any number of processes share one database. */
export function createDeliverer(
  ctx: Context,
  { graceMs = GRACE_MS, slowAfterMs = SLOW_AFTER_MS, limits = DELIVERY_LIMITS }: DelivererOptions = {},
): Deliverer {
  const sending = createLeaseHolder<ClaimedDelivery, number>(ctx, {
    name: 'deliveries',
    idName: 'deliveryId',
    work: deliver,
    onEnd: refill,
    renew: (leases) => renewDeliveries(ctx, leases),
    rescue: () => rescueDeliveries(ctx),
    handBack: (leases) => handBackDeliveries(ctx, leases),
  });
  const webhooksToPrune = new Set<string>();
  const intervals = createIntervals(ctx.log);
  const stopping = new AbortController();
  const closing = new AbortController();
  const heartbeat = createHeartbeat();
  const idleOnly = { ...limits, perProvenWebhook: 1, perUnprovenWebhook: 1 };
  const store = createBatcher((attempts: Attempt[]) => storeAttempts(ctx, attempts, closing.signal), MAX_BATCH);
  const fill = singleFlight(claimRound, (error) => ctx.log.error({ err: error }, 'claiming deliveries failed'));
  const slots = createSlots(ctx.config.webhookConcurrency, slowAfterMs, refill);
  /** Why the last round left deliveries queued; the end of a delivery can lift both. */
  let isFull = false;
  let hasMore = false;
  let after = FIRST_WEBHOOK;

  /** Claims until no slot is free, or every webhook was visited since the round began. */
  async function claimRound() {
    let startedAtFirstWebhook = after === FIRST_WEBHOOK;
    isFull = false;
    while (!stopping.signal.aborted) {
      heartbeat.beat();
      const { limit, onlyIdleWebhooks } = slots.available();
      isFull = limit === 0;
      if (isFull) return;
      const claim = await claimDeliveries(ctx, {
        limit,
        after,
        limits: onlyIdleWebhooks ? idleOnly : limits,
        onUnanswered: ({ claimed }) => sending.addUnanswered(claimed),
      });
      for (const delivery of claim.claimed) sending.hold(delivery);
      ({ next: after, hasMore } = claim);
      if (after !== FIRST_WEBHOOK) continue;
      if (startedAtFirstWebhook) return;
      startedAtFirstWebhook = true;
    }
  }

  async function deliver(delivery: ClaimedDelivery, signal: AbortSignal) {
    const attempt = await attemptDelivery(ctx, delivery, signal).finally(slots.take());
    if (attempt === null) return;
    await store(attempt);
    webhooksToPrune.add(delivery.webhookId);
  }

  function refill() {
    if ((isFull || hasMore) && !stopping.signal.aborted) void fill();
  }

  /** Returns whether any delivery is queued. */
  async function enqueueDue(): Promise<boolean> {
    const { isAnyQueued, isAnyHeldDue } = await enqueueDueRetries(ctx);
    if (isAnyHeldDue) await releaseHeld(ctx);
    return isAnyQueued || isAnyHeldDue;
  }

  async function prune() {
    const webhookIds = [...webhooksToPrune];
    webhooksToPrune.clear();
    await pruneLog(ctx, webhookIds);
  }

  return {
    wake() {
      if (!stopping.signal.aborted) void ctx.trace.detached(fill);
    },
    isAlive: heartbeat.isAlive,
    start() {
      sending.start();
      intervals.every(POLL_MS, 'looking for deliveries', async () => {
        heartbeat.beat();
        await sending.trackOutage(sending.checkUnanswered);
        if (await sending.trackOutage(enqueueDue)) await fill();
      });
      intervals.every(PRUNE_MS, 'pruning the delivery log', prune);
    },
    async drain() {
      for (;;) {
        await sending.checkUnanswered();
        await enqueueDue();
        await fill();
        if (sending.size === 0) break;
        await sending.waitUntilEnded();
      }
      await prune();
    },
    async stop() {
      stopping.abort();
      await intervals.stop();
      await fill();
      await sending.stop(graceMs, closing);
    },
  };
}

interface Slots {
  /** `onlyIdleWebhooks`: the regular slots are taken, and these are the second use of slow ones. */
  available(): { limit: number; onlyIdleWebhooks: boolean };
  /** Takes a slot and returns the function that frees it. */
  take(): () => void;
}

/** After `slowAfterMs` a delivery only waits for its response: its slot may be used a second time. */
function createSlots(count: number, slowAfterMs: number, onChange: () => void): Slots {
  let taken = 0;
  let slow = 0;
  return {
    available() {
      const free = count - taken;
      return free > 0 ? { limit: free, onlyIdleWebhooks: false } : { limit: free + slow, onlyIdleWebhooks: true };
    },
    take() {
      taken += 1;
      let isSlow = false;
      const timer = setTimeout(() => {
        isSlow = true;
        slow += 1;
        onChange();
      }, slowAfterMs);
      return () => {
        clearTimeout(timer);
        taken -= 1;
        if (isSlow) slow -= 1;
        onChange();
      };
    },
  };
}
