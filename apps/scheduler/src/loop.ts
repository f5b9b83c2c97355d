import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Agent } from 'undici';
import { trigger } from './trigger.ts';

export interface SchedulerOptions {
  apiUrl: string;
  cronSecret: string;
  /** Time between two calls when nothing falls due sooner. */
  intervalMs: number;
  log: Logger;
  /** An API that has not answered by then is given up until the next call; 10 s unless told. */
  deadlineMs?: number;
}

/**
 * Calls the scheduler trigger until it is stopped: at the very instant that the API names in `nextDueAt`, never before
 * it, and every `intervalMs` otherwise. Calls do not overlap. Whatever goes wrong is logged when it begins and when
 * it ends, and the calls go on. `stop` ends a call under way, which loses nothing: the API finishes what it has begun.
 */
export function runScheduler(options: SchedulerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const ended = tick(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function tick(options: SchedulerOptions, stopping: AbortSignal): Promise<void> {
  const { apiUrl, cronSecret, intervalMs, log, deadlineMs = 10_000 } = options;
  const dispatcher = new Agent({ connections: 1, connectTimeout: deadlineMs });
  let trouble: string | null | undefined;
  while (!stopping.aborted) {
    const calledAt = Date.now();
    const intervalEnds = performance.now() + intervalMs;
    let nextDueAt: Date | null = null;
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(deadlineMs)]);
      const answer = await trigger({ apiUrl, cronSecret, dispatcher, signal });
      nextDueAt = answer.nextDueAt;
      if (trouble !== null) log.info(`The scheduler triggers ${apiUrl}.`);
      trouble = null;
      if (answer.processed > 0) log.debug({ processed: answer.processed }, 'Executions were due.');
    } catch (error) {
      if (stopping.aborted) break;
      const message = describe(error as Error, deadlineMs);
      if (message !== trouble) log.error(`The scheduler cannot trigger ${apiUrl}: ${message}. It goes on trying.`);
      trouble = message;
    }
    // An instant that was past already when the call began stays due on purpose, as in maintenance: no hurry.
    const due = nextDueAt && nextDueAt.getTime() > calledAt ? nextDueAt.getTime() : null;
    await pause(due, intervalEnds, stopping).catch(() => {});
  }
  await dispatcher.destroy();
}

/** How early the timer is set, since it may be late by about this much, and turns of the event loop take over. */
const TIMER_MS = 2;

/**
 * Waits for the earlier of `due` (by the clock) and `intervalEnds` (by the stopwatch, which no one sets). Where the
 * clocks of two machines differ, that costs one interval at most.
 */
async function pause(due: number | null, intervalEnds: number, signal: AbortSignal): Promise<void> {
  const rest = Math.max(0, intervalEnds - performance.now());
  if (due === null || due - Date.now() > rest) {
    await sleep(rest, undefined, { signal });
    return;
  }
  const early = due - Date.now() - TIMER_MS;
  if (early > 0) await sleep(early, undefined, { signal });
  while (Date.now() < due) await nextTurn(undefined, { signal });
}

function describe(error: Error & { code?: string }, deadlineMs: number): string {
  if (error.name === 'TimeoutError') return `it has not answered within ${deadlineMs} ms`;
  return error.message || error.code || error.name;
}
