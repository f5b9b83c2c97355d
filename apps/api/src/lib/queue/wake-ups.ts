import { type Db, type ListenOptions, listen } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { singleFlight } from './loops.ts';

const CHANNEL = 'carillon_wake';

export type Queue = 'executions' | 'deliveries' | 'looks';

/**
 * Returns functions that wake the workers of other processes, which poll once a second otherwise. Only processes without
 * a worker use it: PostgreSQL commits notifications one after the other.
 */
export function createRemoteWakeUps(db: Db, log: Pick<Logger, 'warn'>): Record<Queue, () => void> {
  const notify = (queue: Queue) => {
    const send = singleFlight(
      async () => void (await db.execute(sql`select pg_notify(${CHANNEL}, ${queue})`)),
      (error) => log.warn({ err: error, queue }, 'workers were not notified: they find the work by polling'),
    );
    return () => void send();
  };
  return { executions: notify('executions'), deliveries: notify('deliveries'), looks: notify('looks') };
}

/** Calls `wake` when another process queues work, and when some may have been missed. */
export function listenForWakeUps(
  databaseUrl: string,
  wake: Record<Queue, () => void>,
  options?: ListenOptions,
): { close(): Promise<void> } {
  const queues = Object.keys(wake) as Queue[];
  const onNotification = (payload: string | null) => {
    for (const queue of queues) if (payload === null || payload === queue) wake[queue]();
  };
  return listen(databaseUrl, CHANNEL, onNotification, options);
}
