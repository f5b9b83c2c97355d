import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Context, WorkerHandle } from '../../context.ts';
import { createClockCheck, createLeaseHolder } from '../../lib/queue/leases.ts';
import { createHeartbeat, createIntervals, singleFlight } from '../../lib/queue/loops.ts';
import type { ClaimResult } from './pipeline/claim.ts';
import type { ExecutionResult } from './pipeline/execution-result.ts';
import { handBackExecutions, isAnyQueued, readQueue, renewExecutions, rescueExecutions } from './pipeline/leases.ts';
import type { ClaimedExecution } from './pipeline/select-candidates.ts';
import { countStorable } from './pipeline/store-results.ts';
import { pipeline } from './pipeline.ts';

const POLL_MS = 1000;
/** Another claim ends soon. */
const CONTENDED_MS = 10;

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
  const intervals = createIntervals(ctx.log);
  const running = createLeaseHolder<ClaimedExecution, number[]>(ctx, {
    name: 'executions',
    idName: 'executionId',
    work: execute,
    onEnd,
    renew: (leases) => renewExecutions(ctx, leases),
    rescue: () => rescueExecutions(ctx),
    handBack: (leases) => handBackExecutions(ctx, leases),
  });
  const claim = singleFlight(claimAll, (error) => ctx.log.error({ err: error }, 'claiming executions failed'));
  const wakeIfQueued = singleFlight(lookForQueued, (error) =>
    ctx.log.error({ err: error }, 'reading the queue failed'),
  );
  const store = singleFlight(storeEnded, (error) => ctx.log.error({ err: error }, 'storing results failed'));

  const ended: { result: ExecutionResult; stored: PromiseWithResolvers<void> }[] = [];
  const rounds = createRounds();

  async function execute(execution: ClaimedExecution, signal: AbortSignal) {
    const result = await pipeline.run(ctx, execution, signal);
    // Aborted: another worker holds the execution, or it was deleted.
    if (signal.aborted) return;
    const stored = Promise.withResolvers<void>();
    ended.push({ result, stored });
    void ctx.trace.detached(store);
    await stored.promise;
  }

  async function storeEnded() {
    // Executions that end in one turn of the event loop share a transaction.
    await setImmediate();
    while (ended.length > 0) {
      const batch = ended.splice(0, countStorable(ended.map(({ result }) => result)));
      try {
        await pipeline.complete(
          ctx,
          batch.map(({ result }) => result),
          closing.signal,
        );
        for (const { stored } of batch) stored.resolve();
      } catch (error) {
        for (const { stored } of batch) stored.reject(error);
      }
    }
  }

  /** Starts executions until no slot is free or none may start. */
  async function claimAll() {
    // Executions that are stored together wake it once.
    await setImmediate();
    while (rounds.isWanted() && countFreeSlots() > 0 && !stopping.signal.aborted) {
      heartbeat.beat();
      const options = { limit: countFreeSlots(), after: rounds.begin(), onUnanswered: holdUnanswered };
      const round = await pipeline.claim(ctx, options);
      for (const execution of round.started) running.hold(execution);
      rounds.end(round);
      if (round.isContended && round.started.length === 0) await delay(CONTENDED_MS);
    }
  }

  /** Lets waiting executions start: a running claim goes on, and otherwise a claim begins if any wait. */
  function onEnd() {
    rounds.want();
    void ctx.trace.detached(wakeIfQueued);
  }

  /** Cheaper than a claim that finds none. */
  async function lookForQueued() {
    await setImmediate();
    if (!rounds.isWanted() || stopping.signal.aborted) return;
    if (await isAnyQueued(ctx)) wake();
  }

  const countFreeSlots = () => Math.max(0, ctx.config.executionConcurrency - running.size);
  const holdUnanswered = ({ started }: ClaimResult) => running.addUnanswered(started);

  async function poll() {
    heartbeat.beat();
    const askedAt = ctx.now();
    const { isAnyQueued, databaseTime, lost } = await readQueue(ctx, running.listLeases());
    checkClock(databaseTime, askedAt, ctx.now());
    running.abortLost(lost);
    await running.checkUnanswered();
    // Not awaited: while a long queue is claimed, cancelled executions must still be noticed.
    if (isAnyQueued) wake();
  }

  function wake() {
    rounds.want();
    void ctx.trace.detached(claim);
  }

  return {
    wake,
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
        rounds.want();
        await claim();
        if (running.size === 0) break;
        await running.waitUntilEnded();
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all([claim(), wakeIfQueued()]);
      await running.stop(graceMs, closing);
      // Until here, running executions may be cancelled.
      await intervals.stop();
    },
  };
}

/** Claims go round over the users, and end when a whole round has found nothing. */
function createRounds() {
  let after = 0;
  let isWanted = false;
  /** Users that this round has passed may have more. */
  let isAnotherNeeded = false;
  return {
    isWanted: () => isWanted,
    want() {
      isWanted = true;
      isAnotherNeeded = true;
    },
    /** Returns the user after whom the claim begins. */
    begin() {
      isWanted = false;
      if (after === 0) isAnotherNeeded = false;
      return after;
    },
    end({ started, refused, lost, next, isFull, isContended }: ClaimResult) {
      const isWhole = after === 0 && next === 0;
      const hasHidden = refused + lost > 0;
      if (hasHidden || (started.length > 0 && !isWhole)) isAnotherNeeded = true;
      after = next;
      if (isContended || (!isFull && (next !== 0 || isAnotherNeeded))) isWanted = true;
    },
  };
}
