import { type Db, REPLICA_OUTCOMES } from '@carillon/db';
import { Counter, Gauge, type Registry } from '@prometheus-io/client';

/** There is one server for each address of `DATABASE_READ_URL`. */
export function addReplicaMetrics(registry: Registry, replica: NonNullable<Db['replica']>): void {
  const registers = [registry];
  new Gauge({
    name: 'carillon_replica_ready',
    help: '1 for a standby that answers reads, else 0.',
    labelNames: ['server'],
    registers,
    collect() {
      for (const { server, status } of replica.states()) this.set({ server }, status === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'carillon_replica_lag_seconds',
    help: 'How long ago the primary was where a standby is, with a precision of 1 s and up to an hour.',
    labelNames: ['server'],
    registers,
    collect() {
      this.reset();
      for (const { server, lagMs } of replica.states()) if (lagMs !== null) this.set({ server }, lagMs / 1000);
    },
  });
  new Counter({
    name: 'carillon_replica_statements_total',
    help: 'Statements for standbys; all but those with the outcome "answered" were answered by the primary.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      const outcomes = replica.outcomes();
      for (const outcome of REPLICA_OUTCOMES) this.inc({ outcome }, outcomes[outcome]);
    },
  });
}
