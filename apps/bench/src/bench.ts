import type { Comparison } from './comparison.ts';
import type { Options } from './options.ts';
import type { DatabaseServer } from './setup/database-server.ts';

/** What a measurement is given. */
export interface Bed extends Options {
  /** PostgreSQL for all of them, Carillon and yardsticks alike. */
  server: DatabaseServer;
}

/** A measurement. What it starts goes on `stack`; it prints what it does, and returns the lines of the report. */
export interface Bench {
  about: string;
  run(stack: AsyncDisposableStack, bed: Bed): Promise<Comparison[]>;
}
