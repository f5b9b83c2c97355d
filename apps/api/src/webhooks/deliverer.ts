import type { Context } from '../context.ts';
import { coalesce } from '../executions/coalesce.ts';
import { lookAgain } from '../look-again.ts';
import { repeat } from '../repeat.ts';
import { type Claimed, claimDeliveries, type DeliveryLimits, FIRST, LIMITS } from './claim.ts';
import { type Attempt, attemptDelivery } from './deliver.ts';
import { handBack, queueRetries, renewLeases, rescueExpired } from './leases.ts';
import { createPlaces } from './places.ts';
import { pruneLog } from './prune-log.ts';
import { storeAttempts } from './settle.ts';

const POLL_MS = 1000;
const RESCUE_MS = 5000;
const PRUNE_MS = 10_000;
const SETTLE_AT_ONCE = 200;
const LINGERS_AFTER_MS = 250;
const GRACE_MS = 20_000;

export interface Deliverer {
  /** Something new is queued: look at once. A poll would find it anyway, only later. */
  nudge(): void;
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

interface Sending {
  delivery: Claimed;
  abort: AbortController;
  ended: Promise<void>;
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
  const sending = new Map<string, Sending>();
  /** Webhooks with new entries in their log. */
  const logged = new Set<string>();
  const loops: ReturnType<typeof repeat>[] = [];
  let renewing: ReturnType<typeof repeat> | undefined;
  const stopping = new AbortController();
  const closing = new AbortController();
  const oneEach = { ...limits, answering: 1, others: 1 };
  const store = coalesce((attempts: Attempt[]) => storeAttempts(ctx, attempts, closing.signal), SETTLE_AT_ONCE);
  const fill = lookAgain(claimRound, (error) => ctx.log.error({ err: error }, 'claiming deliveries failed'));
  const places = createPlaces(ctx.config.webhookConcurrency, lingersAfterMs, lookOn);
  /** Whether the latest claim has left anything: for want of places here, or for limits that an end may lift. */
  let isFull = false;
  let more = false;

  let after = FIRST;
  /** Goes round the webhooks until no place is free, or a whole round was gone. */
  async function claimRound() {
    let wholeRound = after === FIRST;
    isFull = false;
    while (!stopping.signal.aborted) {
      const { limit, spare } = places.free();
      isFull = limit === 0;
      if (isFull) return;
      const claim = await claimDeliveries(ctx, { limit, after, limits: spare ? oneEach : limits });
      for (const delivery of claim.claimed) begin(delivery);
      ({ next: after, more } = claim);
      if (after !== FIRST) continue;
      if (wholeRound) return;
      wholeRound = true;
    }
  }

  function begin(delivery: Claimed) {
    // Lost to another process and back again: the earlier claim counts no more.
    sending.get(delivery.id)?.abort.abort();
    const abort = new AbortController();
    const mine: Sending = { delivery, abort, ended: deliver(delivery, abort.signal).then(done) };
    sending.set(delivery.id, mine);

    function done() {
      if (sending.get(delivery.id) === mine) sending.delete(delivery.id);
      lookOn();
    }
  }

  async function deliver(delivery: Claimed, signal: AbortSignal) {
    try {
      const attempt = await attemptDelivery(ctx, delivery, signal).finally(places.take());
      if (attempt === null) return;
      await store(attempt);
      logged.add(delivery.webhookId);
    } catch (error) {
      ctx.log.error({ err: error, deliveryId: delivery.id }, 'a delivery was left to its lease');
    }
  }

  function lookOn() {
    if ((isFull || more) && !stopping.signal.aborted) void fill();
  }

  const leases = () =>
    [...sending.values()].map(({ delivery }) => ({ id: delivery.id, claimToken: delivery.claimToken }));

  async function renew() {
    if (sending.size === 0) return;
    const mine = leases();
    const held = await renewLeases(ctx, mine);
    for (const { id, claimToken } of mine) {
      const one = sending.get(id);
      if (!held.has(id) && one?.delivery.claimToken === claimToken) one.abort.abort();
    }
  }

  async function prune() {
    const webhookIds = [...logged];
    logged.clear();
    await pruneLog(ctx, webhookIds);
  }

  return {
    nudge() {
      if (!stopping.signal.aborted) void fill();
    },
    start() {
      let failedAt = Number.NEGATIVE_INFINITY;
      const every = (ms: number, name: string, work: () => Promise<unknown>) =>
        repeat(ms, work, (error) => {
          failedAt = performance.now();
          ctx.log.error({ err: error }, `${name} failed`);
        });
      const lease = ctx.config.executionLeaseMs;
      const rescue = async () => {
        // After an outage of the database or a stall the leases of living processes have run out too: they renew first.
        await renew();
        if (performance.now() - failedAt >= lease) await rescueExpired(ctx);
      };
      renewing = every(lease / 3, 'renewing the leases of deliveries', renew);
      loops.push(
        every(POLL_MS, 'looking for deliveries', async () => {
          if (await queueRetries(ctx)) await fill();
        }),
        every(Math.min(RESCUE_MS, lease / 2), 'rescuing deliveries', rescue),
        every(PRUNE_MS, 'pruning the log of deliveries', prune),
      );
    },
    async drain() {
      for (;;) {
        await queueRetries(ctx);
        await fill();
        if (sending.size === 0) break;
        await Promise.all([...sending.values()].map(({ ended }) => ended));
      }
      await prune();
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await fill();
      const all = Promise.all([...sending.values()].map(({ ended }) => ended));
      const timer = setTimeout(() => closing.abort(), graceMs);
      const cut = new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()));
      await Promise.race([all, cut]);
      clearTimeout(timer);
      await renewing?.stop();
      const left = leases();
      for (const { abort } of sending.values()) abort.abort();
      await all;
      await handBack(ctx, left).catch((error) => {
        ctx.log.error({ err: error }, 'deliveries could not be handed back: they are left to their leases');
      });
    },
  };
}
