import type { PoolState } from '@carillon/db';
import { type Db, queryRows, toInstantOrNull } from '@carillon/db';
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Logger } from 'pino';
import { cached } from './cached.ts';
import { queuesQuery } from './queues.ts';
import { addReplicaMetrics } from './replica-metrics.ts';

const QUEUES_TTL_MS = 5000;

export interface GaugeSources {
  db: Db;
  now: () => Date;
  log: Logger;
  poolState: () => PoolState;
  maxConnections: number;
  /** Result of each readiness check; must not reject. */
  readChecks: () => Promise<Record<string, string>>;
}

/** Returns the function that sets the gauges, for each scrape. It never rejects; values that cannot be read are left out. */
export function addGauges(registry: Registry, sources: GaugeSources): () => Promise<void> {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge<L>({ name: `carillon_${name}`, help, labelNames, registers });

  const oldestDue = gauge(
    'oldest_due_age_seconds',
    'Age of the oldest due task or retry that is not enqueued. The same in every process.',
    [],
  );
  const depth = gauge(
    'queue_depth',
    'Queued executions, deliveries and mails, and looks at sources, up to 100,000. The same in every process.',
    ['queue'],
  );
  const maintenance = gauge('maintenance_mode', '1 in maintenance mode, else 0. The same in every process.', []);
  const lastCall = gauge(
    'scheduler_last_call_age_seconds',
    'Time since the scheduler last called, with a precision of 10 s. The same in every process.',
    [],
  );
  const ready = gauge('ready', '1 for each passing check that GET /api/health/ready requires, else 0.', ['check']);
  const open = gauge('database_connections_open', 'Open database connections.', []);
  const inUse = gauge('database_connections_in_use', 'Database connections in use.', []);
  const waiting = gauge('database_connections_waiting', 'Statements and transactions waiting for a connection.', []);
  const max = gauge('database_connections_max', 'Maximum number of database connections.', []);
  max.set(sources.maxConnections);
  if (sources.db.replica) addReplicaMetrics(registry, sources.db.replica);

  const readQueuesCached = cached(QUEUES_TTL_MS, () => readQueues(sources));

  function setQueues(queues: Queues) {
    oldestDue.set(queues.oldestDueMs / 1000);
    depth.set({ queue: 'executions' }, queues.executions);
    depth.set({ queue: 'deliveries' }, queues.deliveries);
    depth.set({ queue: 'mails' }, queues.mails);
    depth.set({ queue: 'looks' }, queues.looks);
    maintenance.set(queues.maintenance ? 1 : 0);
    lastCall.set(queues.lastCallMs / 1000);
  }

  /** A missing value is better than an outdated one. */
  function removeQueues(error: unknown) {
    sources.log.warn({ err: error }, 'reading the queues for the metrics failed');
    oldestDue.remove();
    depth.reset();
    maintenance.remove();
    lastCall.remove();
  }

  return async () => {
    const pool = sources.poolState();
    open.set(pool.open);
    inUse.set(pool.inUse);
    waiting.set(pool.waiting);
    const [checks] = await Promise.all([sources.readChecks(), readQueuesCached().then(setQueues, removeQueues)]);
    ready.reset();
    for (const [check, result] of Object.entries(checks)) {
      // Has a gauge of its own, and takes no process out of use.
      if (check === 'scheduler') continue;
      if (result !== 'unknown') ready.set({ check }, result === 'ok' ? 1 : 0);
    }
  };
}

interface Queues {
  /** 0 if nothing is due. */
  oldestDueMs: number;
  executions: number;
  deliveries: number;
  mails: number;
  looks: number;
  maintenance: boolean;
  lastCallMs: number;
}

async function readQueues({ db, now }: Pick<GaugeSources, 'db' | 'now'>): Promise<Queues> {
  type Found = Omit<Queues, 'oldestDueMs' | 'lastCallMs'> & { dueAt: string | null; calledAt: string };
  const [found] = await queryRows<Found>(db, queuesQuery);
  if (!found) throw new Error('The statement returned no row.');
  const { dueAt, calledAt, ...queues } = found;
  const getAge = (at: Date | null) => (at === null ? 0 : Math.max(0, now().getTime() - at.getTime()));
  return { ...queues, oldestDueMs: getAge(toInstantOrNull(dueAt)), lastCallMs: getAge(toInstantOrNull(calledAt)) };
}
