import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `condition` is true. */
export async function waitUntil(condition: () => Promise<boolean>, what: string, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`After ${timeoutMs / 1000} s, ${what}.`);
    await delay(50);
  }
}
