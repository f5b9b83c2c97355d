import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Api, type StartOptions, startApi } from '@carillon/api/entry/serve';
import type { Config } from '@carillon/api/lib/config/config';
import { startScheduler } from '@carillon/scheduler/scheduler';

/** All of a stop takes less than 10 s, after which people take it for a failure. */
const GRACE_MS = 5000;

export interface Carillon extends Omit<Api, 'log' | 'close'> {
  /** Stops the scheduler, then the API, then the embedded PostgreSQL. */
  close(): Promise<void>;
}

/**
 * Starts all of Carillon in this process: PostgreSQL if no database is configured, API and scheduler. If one fails, stops
 * the ones already started and throws.
 */
export async function startCarillon(config: Config, intervalMs: number, options?: StartOptions): Promise<Carillon> {
  await assertPortFree(config);
  const api = await startApi(config, { graceMs: GRACE_MS, ...options });
  const log = api.log.child({ name: 'scheduler' });
  const scheduler = startScheduler({ apiUrl: api.url, cronSecret: config.cronSecret, intervalMs, log });
  return {
    ...api,
    close: async () => {
      await scheduler.stop();
      await api.close();
    },
  };
}

/** Checked first: a taken port is the most common failure, and starting a database takes long. */
async function assertPortFree({ host, port }: Config): Promise<void> {
  if (port === 0) return;
  const probe = createServer().listen({ host, port, exclusive: true });
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}
