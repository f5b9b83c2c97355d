import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import type { Connector } from './connector.ts';

export interface Pools {
  get(origin: string): Pool;
  close(): Promise<void>;
}

export interface PoolLimits {
  maxOrigins?: number;
  maxSockets?: number;
}

const IDLE_MS = 4000;
const MAX_IDLE_MS = 30_000;
/** A newer pool resolves the name again. */
const MAX_AGE_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;

/** Beyond a limit, the least recently used pool is closed once its requests have ended. */
export function createPools(connector: Connector, { maxOrigins = 256, maxSockets = 1024 }: PoolLimits): Pools {
  const retired = new Set<Pool>();
  const pools = new LRUCache<string, Pool>({
    max: maxOrigins,
    ttl: MAX_AGE_MS,
    dispose(pool) {
      retired.add(pool);
      const forget = () => retired.delete(pool);
      pool.close().then(forget, forget);
    },
  });
  return {
    get(origin) {
      const pool = pools.get(origin) ?? createPool(origin, connector);
      if (!pools.has(origin)) pools.set(origin, pool);
      if (pools.size > 1 && connector.size >= maxSockets) pools.pop();
      return pool;
    },
    async close() {
      connector.close();
      pools.clear();
      await Promise.all([...retired].map((pool) => pool.destroy()));
    },
  };
}

function createPool(origin: string, connector: Connector): Pool {
  return new Pool(origin, {
    connect: connector.connect,
    // An HTTP/2 connection is as slow as its slowest stream.
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
