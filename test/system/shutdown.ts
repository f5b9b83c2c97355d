const open = new Set<() => Promise<void>>();
let shuttingDown = false;

export const isShuttingDown = (): boolean => shuttingDown;

export function assertNotShuttingDown(): void {
  if (shuttingDown) throw new Error('The processes are stopping.');
}

/**
 * Calls `close` once, when `stack` is disposed of or by `closeAll`. Register in the same turn of the event loop in which
 * the resource is created, otherwise an interruption in between would leak it.
 */
export function closeWith(stack: AsyncDisposableStack, close: () => Promise<unknown>): void {
  assertNotShuttingDown();
  let closed: Promise<void> | undefined;
  const once = () => {
    closed ??= close().then(() => void open.delete(once));
    return closed;
  };
  open.add(once);
  stack.defer(once);
}

/** Closes everything in reverse order, for an interruption or a timeout. */
export async function closeAll(): Promise<void> {
  shuttingDown = true;
  for (const close of [...open].reverse()) await close().catch((error) => console.error(error));
}
