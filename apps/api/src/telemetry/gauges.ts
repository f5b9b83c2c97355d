import type { PoolState } from '@carillon/db/pool';
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Context } from '../context.ts';
import { watchReadiness } from '../health/readiness.ts';
import { cached } from './cached.ts';
import { type Queues, readQueues } from './queues.ts';

/** However often, and by however many, the process is scraped. */
const READ_EVERY_MS = 5000;

/**
 * Adds the gauges that are read when somebody looks: what waits in the database, the connections to it, and whether the
 * process is ready. Returns what reads them, to be called before each scrape. It never rejects: what cannot be read is
 * left out, and takes the deadline of a statement at the longest.
 */
export function addGauges(registry: Registry, ctx: Context, pool: () => PoolState): () => Promise<void> {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge<L>({ name: `carillon_${name}`, help, labelNames, registers });

  const oldestDue = gauge(
    'oldest_due_age_seconds',
    'How long the oldest of what is due, tasks and retries, was not taken up. The same at every process.',
    [],
  );
  const depth = gauge(
    'queue_depth',
    'Executions that may start, deliveries that may be sent, mails not yet sent. The same at every process; counted up to 100,000.',
    ['queue'],
  );
  const maintenance = gauge(
    'maintenance_mode',
    '1 while nothing that is due is taken up. The same at every process.',
    [],
  );
  const ready = gauge('ready', '1 for each check of GET /api/health/ready that is ok, else 0.', ['check']);
  const open = gauge('database_connections_open', 'Open connections to the database.', []);
  const inUse = gauge('database_connections_in_use', 'Those of them that statements and transactions have.', []);
  const waiting = gauge('database_connections_waiting', 'Statements and transactions that wait for a connection.', []);
  gauge('database_connections_max', 'Connections to the database at most.', []).set(ctx.config.databasePool);

  const askReadiness = watchReadiness(ctx);
  const askDatabase = cached(READ_EVERY_MS, () => readQueues(ctx));

  function showQueues({ oldestDueMs, executions, deliveries, mails, maintenance: isOn }: Queues) {
    oldestDue.set(oldestDueMs / 1000);
    for (const [queue, count] of Object.entries({ executions, deliveries, mails })) depth.set({ queue }, count);
    maintenance.set(isOn ? 1 : 0);
  }

  function hideQueues(error: unknown) {
    ctx.log.warn({ err: error }, 'the queues could not be read for the metrics');
    // No number is better than an old one.
    oldestDue.remove();
    depth.reset();
    maintenance.remove();
  }

  return async () => {
    const { open: opened, inUse: used, waiting: waited } = pool();
    open.set(opened);
    inUse.set(used);
    waiting.set(waited);
    const [{ checks }] = await Promise.all([askReadiness(), askDatabase().then(showQueues, hideQueues)]);
    ready.reset();
    for (const [check, found] of Object.entries(checks)) {
      if (found !== 'unknown') ready.set({ check }, found === 'ok' ? 1 : 0);
    }
  };
}
