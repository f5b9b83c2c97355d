import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Returns a port of loopback that is free at the moment. */
export function findFreePort(): Promise<number> {
  return probe(0);
}

/** Returns a free port outside the range of outgoing connections, so that a restarted process can use it again. */
export async function findStablePort(): Promise<number> {
  for (;;) {
    const port = await probe(randomInt(10_000, 32_768)).catch(() => null);
    if (port !== null) return port;
  }
}

function probe(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const { port: free } = server.address() as { port: number };
      server.close(() => resolve(free));
    });
  });
}
