import type { Context, WorkerHandle } from '../../../context.ts';
import { createLeaseHolder } from '../../../lib/queue/lease-holder.ts';
import { createClockCheck } from '../../../lib/queue/leases.ts';
import { createBatcher, createHeartbeat, createIntervals, singleFlight } from '../../../lib/queue/loops.ts';
import { type ClaimResult, readQueue } from './claims/claim.ts';
import { completeAndClaim } from './claims/complete-and-claim.ts';
import type { ClaimedExecution } from './claims/select-runnable.ts';
import type { ExecutionResult } from './execution-result.ts';
import { handBackExecutions, renewExecutions, rescueExecutions } from './leases.ts';
import { runExecution, traceExecution } from './run.ts';
import { isOneBatch, logStoreFailure, storeResults } from './store-results.ts';

const POLL_MS = 1000;
const MAX_BATCH = 200;

export interface ExecutionRunner extends Pick<WorkerHandle, 'abort' | 'rescue' | 'isAlive'> {
  /** Polls at once. */
  wake(): void;
  start(): void;
  drain(): Promise<void>;
  /** Waits for running executions, then hands the rest back to the queue. */
  stop(): Promise<void>;
}

/** Claims, runs and completes up to `EXECUTION_CONCURRENCY` executions at once. */
export function createExecutionRunner(ctx: Context, { graceMs }: { graceMs: number }): ExecutionRunner {
  const stopping = new AbortController();
  const closing = new AbortController();
  const heartbeat = createHeartbeat();
  const checkClock = createClockCheck(ctx);
  const storeResult = createBatcher(
    (results: ExecutionResult[]) => ctx.trace.detached(() => completeAndRefill(results)),
    MAX_BATCH,
  );
  const claimOnce = singleFlight(claimRounds, (error) => ctx.log.error({ err: error }, 'claiming executions failed'));
  const refill = () => (stopping.signal.aborted ? Promise.resolve() : claimOnce());
  const running = createLeaseHolder<ClaimedExecution, number[]>(ctx, {
    name: 'executions',
    idName: 'executionId',
    work: execute,
    onEnd: () => void refill(),
    renew: (leases) => renewExecutions(ctx, leases),
    rescue: () => rescueExecutions(ctx),
    handBack: (leases) => handBackExecutions(ctx, leases),
  });
  const intervals = createIntervals(ctx.log);

  let lastUserId = 0;
  let reservedSlots = 0;
  let wakeUps = 0;
  let completing: Promise<unknown> = Promise.resolve();
  const countFreeSlots = () => Math.max(0, ctx.config.executionConcurrency - running.size - reservedSlots);

  async function execute(execution: ClaimedExecution, signal: AbortSignal) {
    await traceExecution(ctx, execution, async (span) => {
      const result = await runExecution(ctx, execution, signal);
      if (!result.ok) span.fail(result.errorCode);
      // Aborted: another worker holds the execution, or it was deleted.
      if (!signal.aborted) await storeResult(result);
    });
  }

  /** Claims until no slot is free, or a round over all users finds nothing. */
  async function claimRounds() {
    let isWholeRound = lastUserId === 0;
    let found = 0;
    while (!stopping.signal.aborted && countFreeSlots() > 0) {
      heartbeat.beat();
      const claimed = await claim(countFreeSlots());
      found += claimed.found;
      if (claimed.isFull) return;
      if (claimed.next !== 0) continue;
      if (isWholeRound && (found === 0 || claimed.isExhaustive)) return;
      isWholeRound = true;
      found = 0;
    }
  }

  async function completeAndRefill(results: readonly ExecutionResult[]) {
    if (stopping.signal.aborted || !isOneBatch(results)) return storeResults(ctx, results, closing.signal);
    const claiming = claim(countFreeSlots(), results);
    completing = claiming.catch(() => {});
    const wakeUpsBefore = wakeUps;
    try {
      const { isExhaustive } = await claiming;
      // A wake-up meanwhile found no free slot, and what it announced may be newer than what this claim has read.
      if (!isExhaustive || wakeUps > wakeUpsBefore) void refill();
    } catch (error) {
      logStoreFailure(ctx, error, results);
      await storeResults(ctx, results, closing.signal);
    }
  }

  async function claim(slots: number, results: readonly ExecutionResult[] = []) {
    const limit = slots + results.length;
    const options = { limit, after: lastUserId, onUnanswered: holdUnanswered };
    reservedSlots += slots;
    try {
      const { started, refused, lost, next, isFull } = await completeAndClaim(ctx, results, options);
      running.release(results);
      for (const execution of started) running.hold(execution);
      lastUserId = next;
      // One claim covered every user, and no refused or lost row hid one that may start.
      const isExhaustive = options.after === 0 && next === 0 && refused + lost === 0;
      return { found: started.length + refused + lost, next, isFull, isExhaustive };
    } finally {
      reservedSlots -= slots;
    }
  }

  const holdUnanswered = ({ started }: ClaimResult) => running.addUnanswered(started);

  async function poll() {
    heartbeat.beat();
    const askedAt = ctx.now();
    const { isAnyQueued, databaseTime, lost } = await readQueue(ctx, running.listLeases());
    checkClock(databaseTime, askedAt, ctx.now());
    running.abortLost(lost);
    await running.checkUnanswered();
    // Not awaited: while a long queue is claimed, cancelled executions must still be noticed.
    if (isAnyQueued && countFreeSlots() > 0) void refill();
  }

  return {
    wake() {
      wakeUps += 1;
      void ctx.trace.detached(refill);
    },
    abort: running.abort,
    rescue: async () => (await running.rescue()) ?? [],
    isAlive: heartbeat.isAlive,
    start() {
      running.start();
      intervals.every(POLL_MS, 'polling executions', () => running.trackOutage(poll));
    },
    async drain() {
      for (;;) {
        await running.checkUnanswered();
        await refill();
        if (running.size === 0) break;
        await running.waitUntilEnded();
      }
    },
    async stop() {
      stopping.abort();
      // Only claims in progress are left.
      await Promise.all([claimOnce(), completing]);
      await running.stop(graceMs, closing);
      // Until here, running executions may be cancelled.
      await intervals.stop();
    },
  };
}
