import type { Comparison } from './comparison.ts';
import type { DatabaseServer } from './environment/servers/database-server.ts';
import type { Options } from './options.ts';

/** What a measurement is given. */
export interface Environment extends Options {
  /** PostgreSQL for all of them, Carillon and baselines alike. */
  server: DatabaseServer;
}

/** A measurement. What it starts goes on `stack`; it prints what it does, and returns the lines of the report. */
export interface Benchmark {
  about: string;
  run(stack: AsyncDisposableStack, environment: Environment): Promise<Comparison[]>;
}
