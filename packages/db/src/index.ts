export * from './away.ts';
export * from './client.ts';
export * from './rows.ts';
export * from './schema/index.ts';
