import { rescueAgentCalls } from './agent/calls.ts';
import type { Context, WorkerHandle } from './context.ts';
import { claimExecutions, hasQueuedExecutions } from './executions/claim.ts';
import { handBack, renewLeases, rescueExpired } from './executions/leases.ts';
import { enqueueDue } from './executions/queue.ts';
import { type RunEnd, runExecution } from './executions/run.ts';
import type { ClaimedExecution } from './executions/select-runnable.ts';
import { isOnePortion, storeEnds } from './executions/store-ends.ts';
import { traceExecution } from './executions/trace-execution.ts';
import { deliverDueMails } from './mail/deliver.ts';
import { createBatcher } from './queue/batcher.ts';
import { createHeartbeat } from './queue/heartbeat.ts';
import { startInterval } from './queue/interval.ts';
import { createLeaseHolder } from './queue/lease-holder.ts';
import { singleFlight } from './queue/single-flight.ts';
import { createPruner } from './retention/prune.ts';
import { deleteOrphanedObjects } from './uploads/orphaned-objects.ts';
import { createDeliverer } from './webhooks/delivery/deliverer.ts';

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

/**
 * The worker of a process: keeps up to `EXECUTION_CONCURRENCY` executions running, refilling as each one ends, renews
 * their leases, and takes over what other processes left behind. Any number of equal workers share one database.
 */
export function createWorker(ctx: Context, { graceMs = GRACE_MS } = {}): Worker {
  const closing = new AbortController();
  const loops: ReturnType<typeof startInterval>[] = [];
  const store = createBatcher((ends: RunEnd[]) => ctx.trace.detached(() => turnOver(ends)), SETTLE_AT_ONCE);
  const stopping = new AbortController();
  const deliverer = createDeliverer(ctx, { graceMs });
  const pulse = createHeartbeat();

  const look = singleFlight(claimRound, (error) => ctx.log.error({ err: error }, 'claiming failed'));
  const fill = () => (stopping.signal.aborted ? Promise.resolve() : look());
  const running = createLeaseHolder<ClaimedExecution, number[]>(ctx, {
    name: 'executions',
    idName: 'executionId',
    work: execute,
    onEnd: () => void fill(),
    renew: (leases) => renewLeases(ctx, leases),
    rescue: () => rescueExpired(ctx),
    handBack: (leases) => handBack(ctx, leases),
  });

  let lastUser = 0;
  let turning: Promise<unknown> = Promise.resolve();
  /** Places that a claim under way may fill. */
  let promised = 0;
  const free = () => ctx.config.executionConcurrency - running.size - promised;

  /** Starts what waits, in `places` that are free and in those of `ends`, which it stores. */
  async function claim(places: number, ends: readonly RunEnd[] = []) {
    const after = lastUser;
    promised += places;
    try {
      const limit = places + ends.length;
      const { started, refused, next } = await claimExecutions(ctx, { limit, after, ends });
      running.release(ends);
      for (const run of started) running.hold(run);
      lastUser = next;
      // A single claim that looked at everybody has left only what may not start, or what was behind a refused one.
      return { found: started.length + refused, next, isAll: after === 0 && next === 0 && refused === 0 };
    } finally {
      promised -= places;
    }
  }

  /** Goes round the users until no place is free, or a whole round has found nothing more to do. */
  async function claimRound() {
    let wholeRound = lastUser === 0;
    let found = 0;
    while (!stopping.signal.aborted && free() > 0) {
      // A round may go on for as long as runs end and others begin.
      pulse.beat();
      const claimed = await claim(free());
      found += claimed.found;
      if (claimed.next !== 0) continue;
      if (wholeRound && (found === 0 || claimed.isAll)) return;
      wholeRound = true;
      found = 0;
    }
  }

  /** Stores what has ended, and in the same transaction lets others start in its place. */
  async function turnOver(ends: readonly RunEnd[]) {
    if (stopping.signal.aborted || !isOnePortion(ends)) return storeEnds(ctx, ends, closing.signal);
    const turn = claim(Math.max(0, free()), ends);
    turning = turn.catch(() => {});
    try {
      const { isAll } = await turn;
      if (!isAll) void fill();
    } catch (error) {
      ctx.log.error({ err: error, executionIds: ends.map(({ id }) => id) }, 'results could not be stored');
      await storeEnds(ctx, ends, closing.signal);
    }
  }

  function execute(run: ClaimedExecution, signal: AbortSignal) {
    return traceExecution(ctx, run, async (span) => {
      const end = await runExecution(ctx, run, signal);
      if (!end.outcome.ok) span.fail(end.outcome.errorCode);
      // Given up: the row is another worker's, or gone.
      if (!signal.aborted) await store(end);
    });
  }

  async function takeUpOverdue() {
    const { queued } = await enqueueDue(ctx, { overdueMs: SCHEDULER_SILENT_MS });
    if (queued.length > 0) {
      ctx.log.warn({ executions: queued.length }, 'the scheduler trigger is overdue: the worker took up what was due');
    }
  }

  return {
    wakeExecutions: () => void ctx.trace.detached(fill),
    wakeDeliveries: deliverer.wake,
    abort: running.abort,
    rescue: async () => (await running.rescue()) ?? [],
    stopping: stopping.signal,
    isAlive: () => pulse.isAlive() && deliverer.isAlive(),
    start() {
      const every = (ms: number, name: string, work: () => Promise<unknown>) =>
        startInterval(ms, work, (error) => ctx.log.error({ err: error }, `${name} failed`));
      const poll = async () => {
        pulse.beat();
        if (free() > 0 && (await hasQueuedExecutions(ctx))) await fill();
      };
      running.start();
      deliverer.start();
      loops.push(
        every(POLL_MS, 'polling', () => running.trackOutage(poll)),
        every(SCHEDULER_SILENT_MS / 4, 'looking for overdue tasks', takeUpOverdue),
        every(RESCUE_MS, 'rescuing agent calls', () => rescueAgentCalls(ctx)),
        every(POLL_MS, 'delivering mail', () => deliverDueMails(ctx)),
        every(PRUNE_MS, 'pruning', createPruner(ctx)),
        every(PRUNE_MS, 'removing loose objects', () => deleteOrphanedObjects(ctx)),
      );
    },
    async drain() {
      for (;;) {
        await fill();
        if (running.size === 0) break;
        await running.waitUntilEnded();
      }
    },
    async stop() {
      stopping.abort();
      const delivered = deliverer.stop();
      await Promise.all(loops.map((loop) => loop.stop()));
      // It claims nothing any more: this waits for the claims that are under way.
      await Promise.all([look(), turning]);
      await running.stop(graceMs, closing);
      await delivered;
    },
  };
}
