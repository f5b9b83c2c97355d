import type { Context, WorkerHandle } from './context.ts';
import { claimQueued, hasQueued } from './executions/claim.ts';
import { coalesce } from './executions/coalesce.ts';
import { handBack, renewLeases, rescueExpired } from './executions/leases.ts';
import { enqueueDue } from './executions/queue.ts';
import { runExecution } from './executions/run.ts';
import type { End } from './executions/settle.ts';
import { storeEnds } from './executions/store-ends.ts';
import type { Claimed } from './executions/turns.ts';
import { lookAgain } from './look-again.ts';
import { deliverDue } from './mails/deliver.ts';
import { prune } from './prune.ts';
import { repeat } from './repeat.ts';
import { createDeliverer } from './webhooks/deliverer.ts';

const POLL_MS = 1000;
const RESCUE_MS = 5000;
const PRUNE_MS = 60_000;
/** When the scheduler has not called for so long although something is due, the worker takes it up itself. */
const SCHEDULER_SILENT_MS = 60_000;
const SETTLE_AT_ONCE = 200;
/** How long a shutdown waits for running executions before it hands them back. */
const GRACE_MS = 20_000;

export interface Worker extends WorkerHandle {
  /** Starts the background loop. */
  start(): void;
  /** Runs what is queued until nothing is left that may start; for callers that wait, tests among them. */
  drain(): Promise<void>;
  /** Claims nothing more, waits up to 20 s for what runs, and hands the rest back to the queue. */
  stop(): Promise<void>;
}

interface Running {
  run: Claimed;
  abort: AbortController;
  ended: Promise<void>;
}

/**
 * The worker of a process: keeps up to `EXECUTION_CONCURRENCY` executions running, refilling as each one ends, renews
 * their leases, and takes over what other processes left behind. Any number of equal workers share one database.
 */
export function createWorker(ctx: Context, { graceMs = GRACE_MS } = {}): Worker {
  const running = new Map<number, Running>();
  const closing = new AbortController();
  const loops: ReturnType<typeof repeat>[] = [];
  let renewing: ReturnType<typeof repeat> | undefined;
  const store = coalesce((ends: End[]) => storeEnds(ctx, ends, closing.signal), SETTLE_AT_ONCE);
  const stopping = new AbortController();
  const deliverer = createDeliverer(ctx, { graceMs });

  const look = lookAgain(claimRound, (error) => ctx.log.error({ err: error }, 'claiming failed'));
  const fill = () => (stopping.signal.aborted ? Promise.resolve() : look());

  let lastUser = 0;
  /** Goes round the users until no place is free, or a whole round has found nothing more to do. */
  async function claimRound() {
    let wholeRound = lastUser === 0;
    let found = 0;
    while (!stopping.signal.aborted && running.size < ctx.config.executionConcurrency) {
      const limit = ctx.config.executionConcurrency - running.size;
      const fromFirst = lastUser === 0;
      const { started, refused, next } = await claimQueued(ctx, { limit, after: lastUser });
      for (const run of started) begin(run);
      found += started.length + refused;
      lastUser = next;
      if (next !== 0) continue;
      // A single claim that looked at everybody has left only what may not start, or what was behind a refused one.
      if (wholeRound && (found === 0 || (fromFirst && refused === 0))) return;
      wholeRound = true;
      found = 0;
    }
  }

  function begin(run: Claimed) {
    // Lost to another process and back again: the earlier claim counts no more.
    running.get(run.id)?.abort.abort();
    const abort = new AbortController();
    const mine: Running = { run, abort, ended: execute(run, abort.signal).then(done) };
    running.set(run.id, mine);

    function done() {
      if (running.get(run.id) === mine) running.delete(run.id);
      void fill();
    }
  }

  async function execute(run: Claimed, signal: AbortSignal) {
    try {
      const end = await runExecution(ctx, run, signal);
      // Given up: the row is another worker's, or gone.
      if (!signal.aborted) await store(end);
    } catch (error) {
      ctx.log.error({ err: error, executionId: run.id }, 'an execution was left to its lease');
    }
  }

  const leases = () => [...running.values()].map(({ run }) => ({ id: run.id, claimToken: run.claimToken }));

  async function renew() {
    if (running.size === 0) return;
    const mine = leases();
    const held = await renewLeases(ctx, mine);
    for (const { id, claimToken } of mine) {
      const one = running.get(id);
      if (!held.has(id) && one?.run.claimToken === claimToken) one.abort.abort();
    }
  }

  function abort(executionIds: readonly number[]) {
    for (const id of executionIds) running.get(id)?.abort.abort();
  }

  let failedAt = Number.NEGATIVE_INFINITY;
  async function rescue(): Promise<number[]> {
    // After an outage of the database or a stall the leases of living workers have run out too: they renew first.
    await renew();
    if (performance.now() - failedAt < ctx.config.executionLeaseMs) return [];
    return rescueExpired(ctx);
  }

  async function takeUpOverdue() {
    const { queued } = await enqueueDue(ctx, { overdueMs: SCHEDULER_SILENT_MS });
    if (queued.length > 0) {
      ctx.log.warn({ executions: queued.length }, 'the scheduler trigger is overdue: the worker took up what was due');
    }
  }

  return {
    nudge: () => void fill(),
    nudgeDeliveries: deliverer.nudge,
    abort,
    rescue,
    stopping: stopping.signal,
    start() {
      const every = (ms: number, name: string, work: () => Promise<unknown>, onFailure = () => {}) =>
        repeat(ms, work, (error) => {
          onFailure();
          ctx.log.error({ err: error }, `${name} failed`);
        });
      const noteOutage = () => {
        failedAt = performance.now();
      };
      const poll = async () => {
        if (running.size < ctx.config.executionConcurrency && (await hasQueued(ctx))) await fill();
      };
      renewing = every(ctx.config.executionLeaseMs / 3, 'renewing leases', renew, noteOutage);
      deliverer.start();
      loops.push(
        every(POLL_MS, 'polling', poll, noteOutage),
        every(Math.min(RESCUE_MS, ctx.config.executionLeaseMs / 2), 'rescuing', rescue, noteOutage),
        every(SCHEDULER_SILENT_MS / 4, 'looking for overdue tasks', takeUpOverdue),
        every(POLL_MS, 'delivering mail', () => deliverDue(ctx)),
        every(PRUNE_MS, 'pruning', () => prune(ctx)),
      );
    },
    async drain() {
      for (;;) {
        await fill();
        if (running.size === 0) break;
        await Promise.all([...running.values()].map(({ ended }) => ended));
      }
    },
    async stop() {
      stopping.abort();
      const delivered = deliverer.stop();
      await Promise.all(loops.map((loop) => loop.stop()));
      // It claims nothing any more: this waits for a claim that is under way.
      await look();
      const all = Promise.all([...running.values()].map(({ ended }) => ended));
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
      await handBack(ctx, left).catch((error) => {
        ctx.log.error({ err: error }, 'running executions could not be handed back: they are left to their leases');
      });
      await delivered;
    },
  };
}
