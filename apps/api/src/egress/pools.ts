import { Pool } from 'undici';
import type { Connector } from './connector.ts';

/** One pool for each origin that was lately used. */
export interface Pools {
  of(origin: string): Pool;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

export interface PoolLimits {
  mostOrigins?: number;
  mostSockets?: number;
}

const IDLE_MS = 4000;
/** However long a receiver offers. */
const MAX_IDLE_MS = 30_000;
/** After it, the name is looked up anew. */
const LIFE_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Connections that are kept for the next request, over any number of receivers: of more than `mostOrigins`, or when
 * there are more than `mostSockets` connections, those of the origin that was not used for longest go first, once what
 * runs over them has ended.
 */
export function createPools(connector: Connector, { mostOrigins = 256, mostSockets = 1024 }: PoolLimits): Pools {
  const pools = new Map<string, { pool: Pool; since: number }>();
  const retired = new Set<Pool>();

  const retire = (origin: string) => {
    const pool = pools.get(origin)?.pool;
    if (!pool) return;
    pools.delete(origin);
    retired.add(pool);
    const gone = () => retired.delete(pool);
    pool.close().then(gone, gone);
  };

  return {
    of(origin) {
      const now = performance.now();
      if (now - (pools.get(origin)?.since ?? now) > LIFE_MS) retire(origin);
      const entry = pools.get(origin) ?? { pool: createPool(origin, connector), since: now };
      // Put last, as the one used last.
      pools.delete(origin);
      const [oldest] = pools.keys();
      if (oldest && (pools.size >= mostOrigins || connector.size >= mostSockets)) retire(oldest);
      pools.set(origin, entry);
      return entry.pool;
    },
    async close() {
      connector.close();
      const all = [...retired, ...[...pools.values()].map(({ pool }) => pool)];
      await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}

function createPool(origin: string, connector: Connector): Pool {
  return new Pool(origin, {
    connect: connector.connect,
    // Its streams would share one connection, and so the fate of the slowest.
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Each request has a deadline of its own, to the millisecond.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
