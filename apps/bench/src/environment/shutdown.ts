const open = new Set<() => Promise<void>>();
let shuttingDown = false;

/** Whether everything is being ended: what fails from now on fails because of that. */
export const isShuttingDown = (): boolean => shuttingDown;

/** Refuses to begin anything once everything is being ended. */
export function assertNotShuttingDown(): void {
  if (shuttingDown) throw new Error('The measurement is being ended.');
}

/**
 * Sees to it that `end` is called once: when `stack` is disposed of, or by `endAll`. To be called before what it ends
 * has begun or in the same turn of the event loop, so that there is no moment in which it would be left behind.
 */
export function closeWith(stack: AsyncDisposableStack, end: () => Promise<unknown>): void {
  assertNotShuttingDown();
  let ended: Promise<void> | undefined;
  const once = () => {
    ended ??= end().then(() => void open.delete(once));
    return ended;
  };
  open.add(once);
  stack.defer(once);
}

/** Ends all that is open, the latest first, whatever is being measured: for Ctrl-C and for what takes too long. */
export async function closeAll(): Promise<void> {
  shuttingDown = true;
  for (const end of [...open].reverse()) await end().catch((error) => console.error(error));
}
