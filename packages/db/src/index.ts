export * from './client.ts';
export * from './errors.ts';
export * from './pool/listen.ts';
export type { PoolState } from './pool/pool.ts';
export * from './prepared-query.ts';
export * from './query-rows.ts';
export * from './schema/index.ts';
