import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `what` is true, and fails after `withinMs`. */
export async function until(what: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await what())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${withinMs} ms`);
    await delay(10);
  }
}
