import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A port of loopback that is free at this moment. */
export function findFreePort(): Promise<number> {
  return probe(0);
}

/**
 * A port of loopback for a process that goes away and comes back: free, and none of those from which the system takes
 * one for each outgoing connection, so that it is still free then.
 */
export async function findStablePort(): Promise<number> {
  for (;;) {
    const port = await probe(randomInt(10_000, 32_768)).catch(() => null);
    if (port !== null) return port;
  }
}

function probe(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
