import type { Connection } from './connection.ts';
import { DatabaseUnavailable } from './errors.ts';

/** Somebody who waits for a connection. */
export interface Waiting {
  /** Whether it is wanted for a transaction, or for one statement. */
  alone: boolean;
  /** How long, by `performance.now()`. */
  until: number;
  resolve(connection: Connection): void;
  reject(error: Error): void;
}

/** Refuses those whose time was up at `now`. All of them wait equally long: the first has waited longest. */
export function refuseLate(waiting: Set<Waiting>, now: number): void {
  for (const one of waiting) {
    if (one.until > now) break;
    waiting.delete(one);
    one.reject(busy());
  }
}

/** Refuses all of them. */
export function refuseAll(waiting: Set<Waiting>, error: () => Error): void {
  for (const one of waiting) one.reject(error());
  waiting.clear();
}

export const busy = (): Error =>
  new DatabaseUnavailable('DATABASE_BUSY', 'No connection to the database became free in time.');
export const closedPool = (): Error => new DatabaseUnavailable('DATABASE_CLOSED', 'The pool is closed.');
