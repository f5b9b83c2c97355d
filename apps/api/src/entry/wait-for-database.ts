import { setTimeout as delay } from 'node:timers/promises';
import { describeTemporaryOutage } from '@carillon/db/temporary-outage';
import type { Logger } from 'pino';

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 1000;

interface WaitOptions {
  log: Logger;
  /** Ends the wait, also during an attempt. */
  signal: AbortSignal;
  /** Called with each new reason, before the next attempt. */
  onWait(reason: string): Promise<void>;
}

/**
 * Repeats `prepare` until the database can be used. Throws errors that do not pass by themselves, such as a wrong password,
 * and the reason of the signal.
 */
export async function waitForDatabase<T>(prepare: () => Promise<T>, { log, signal, onWait }: WaitOptions): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  let last: string | null = null;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    signal.throwIfAborted();
    try {
      const result = await Promise.race([prepare(), aborted]);
      if (last !== null) log.info('the database is available');
      return result;
    } catch (error) {
      const reason = signal.aborted ? null : describeTemporaryOutage(error);
      if (reason === null) throw error;
      if (reason !== last) {
        log.warn({ reason }, 'waiting for the database');
        await onWait(reason);
      }
      last = reason;
    }
    await Promise.race([delay(delayMs), aborted]);
  }
}
