import type { Logger } from 'pino';
import { Agent } from 'undici';
import { systemTimer, type Timer } from './timer.ts';
import { ApiUnavailable, triggerApi } from './trigger.ts';

export interface SchedulerOptions {
  apiUrl: string;
  cronSecret: string;
  intervalMs: number;
  log: Logger;
  /** Timeout of a call. Default: 10 s. */
  timeoutMs?: number;
  timer?: Timer;
}

/** While the API has no database: the first call after a failover starts what is due since then. */
const UNAVAILABLE_RETRY_MS = 250;

/**
 * Calls the scheduler trigger until stopped: at `nextDueAt` of the API, never before it, or after `intervalMs`, sooner if it
 * answers 503. `stop` may abort a call in flight: the API completes what it has begun.
 */
export function startScheduler(options: SchedulerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const ended = callUntilStopped(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function callUntilStopped(options: SchedulerOptions, stopping: AbortSignal): Promise<void> {
  const { apiUrl, cronSecret, intervalMs, log, timeoutMs = 10_000, timer = systemTimer } = options;
  const dispatcher = new Agent({ connections: 1, connectTimeout: timeoutMs });
  /** Undefined before the first call, null after a successful one. */
  let failure: string | null | undefined;
  while (!stopping.aborted) {
    const calledAt = timer.now();
    let intervalEnd = timer.elapsed() + intervalMs;
    let nextDueAt: Date | null = null;
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
      const response = await triggerApi({ apiUrl, cronSecret, dispatcher, signal });
      nextDueAt = response.nextDueAt;
      if (failure !== null) log.info(`The scheduler triggers ${apiUrl}.`);
      failure = null;
      if (response.processed > 0) log.debug({ processed: response.processed }, 'Executions were due.');
    } catch (error) {
      if (stopping.aborted) break;
      const message = describeFailure(error as Error, timeoutMs);
      if (message !== failure) log.error(`The scheduler cannot trigger ${apiUrl}: ${message}. Retrying.`);
      failure = message;
      if (error instanceof ApiUnavailable) intervalEnd = Math.min(intervalEnd, timer.elapsed() + UNAVAILABLE_RETRY_MS);
    }
    // An instant before the call stays due on purpose, as in maintenance mode: wait for the interval.
    const dueAt = nextDueAt && nextDueAt.getTime() > calledAt ? nextDueAt.getTime() : null;
    await waitForNextCall(timer, dueAt, intervalEnd, stopping).catch(() => {});
  }
  await dispatcher.destroy();
}

/** Timers fire up to this much late, so the rest is waited for by turns of the event loop. */
const TIMER_DELAY_MS = 2;

/** `dueAt` is wall clock, `intervalEnd` monotonic: with different clocks of two machines, a call is late by one interval at most. */
async function waitForNextCall(timer: Timer, dueAt: number | null, intervalEnd: number, signal: AbortSignal) {
  const restMs = Math.max(0, intervalEnd - timer.elapsed());
  if (dueAt === null || dueAt - timer.now() > restMs) return timer.sleep(restMs, signal);
  const sleepMs = dueAt - timer.now() - TIMER_DELAY_MS;
  if (sleepMs > 0) await timer.sleep(sleepMs, signal);
  while (timer.now() < dueAt) await timer.nextTurn(signal);
}

function describeFailure(error: Error & { code?: string }, timeoutMs: number): string {
  if (error.name === 'TimeoutError') return `it did not answer within ${timeoutMs} ms`;
  return error.message || error.code || error.name;
}
