export * from './client.ts';
export * from './errors.ts';
export * from './pool/listen.ts';
export type { PoolState } from './pool/pool.ts';
export * from './queries.ts';
export { REPLICA_OUTCOMES, type Replica, type ReplicaState } from './replica/replica.ts';
export * from './schema/index.ts';
