import { TimeoutError } from './errors.ts';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8000;
/** Longer timers fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The wait before the next attempt, from 0: doubles, with jitter, so that clients do not return all at once. */
export const backoffMs = (attempt: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (0.5 + Math.random() / 2);

/** Reads `Retry-After`, in seconds or as a date; null if there is none, or nothing that can be read. */
export function parseRetryAfter(header: string | null, now = Date.now()): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(at - now, 0);
}

/** Resolves after `ms`; rejects with the reason of an abort. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}

export interface Deadline {
  /** Aborted by the caller's signal and by the deadline. */
  signal: AbortSignal;
  /** Rejects when the signal is aborted, also if `work` ignores it. */
  guard<T>(work: Promise<T>): Promise<T>;
  /** Starts the time from the beginning. */
  restart(): void;
  /** Stops the time until `restart`. */
  pause(): void;
  /** Aborts what still uses the signal. */
  close(): void;
}

/** Opens a deadline `ms` from now. The caller closes it. */
export function openDeadline(ms: number, caller: AbortSignal | undefined, description: string): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = () => controller.abort(caller?.reason);
  const onTimeout = () => controller.abort(new TimeoutError(`${description} within ${ms} ms.`));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pause = () => clearTimeout(timer);
  const restart = () => {
    pause();
    if (ms <= MAX_TIMER_MS) timer = setTimeout(onTimeout, ms);
  };
  restart();
  caller?.addEventListener('abort', onAbort);
  if (caller?.aborted) onAbort();
  return {
    signal,
    restart,
    pause,
    guard: (work) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(signal.reason);
        if (signal.aborted) fail();
        signal.addEventListener('abort', fail);
        work
          .then(resolve, (error) => reject(signal.aborted ? signal.reason : error))
          .finally(() => signal.removeEventListener('abort', fail));
      }),
    close: () => {
      pause();
      caller?.removeEventListener('abort', onAbort);
      controller.abort();
    },
  };
}
