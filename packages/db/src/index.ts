export * from './client.ts';
export * from './errors.ts';
export * from './prepared.ts';
export * from './query-rows.ts';
export * from './schema/index.ts';
