import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '@carillon/api/config/config';
import { startApi } from '@carillon/api/serve';
import { startScheduler } from '@carillon/scheduler/scheduler';
import { pino } from 'pino';

export interface Carillon {
  /** Where the API really listens. */
  url: string;
  /** Stops the scheduler, then the API, then the embedded PostgreSQL. */
  close(): Promise<void>;
}

/**
 * Starts the whole of Carillon in this process (decisions §2, `pnpm start`): PostgreSQL where none is given, API and
 * scheduler. When one of them fails, what was already started is stopped again and the error is thrown.
 */
export async function startCarillon(config: Config, intervalMs: number): Promise<Carillon> {
  await assertPortFree(config);
  const api = await startApi(config);
  const log = pino({ level: config.logLevel, name: 'scheduler' });
  const scheduler = startScheduler({ apiUrl: api.url, cronSecret: config.cronSecret, intervalMs, log });
  return {
    url: api.url,
    close: async () => {
      await scheduler.stop();
      await api.close();
    },
  };
}

/** Asked first, because a taken port is the commonest failure and a database would be started for nothing. */
async function assertPortFree({ host, port }: Config): Promise<void> {
  if (port === 0) return;
  const probe = createServer().listen({ host, port, exclusive: true });
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}
