import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { Context } from '../context.ts';
import { countRequest, type RateWindow } from '../limits/windows.ts';

/** A request's counter, which stands in for the text key of the plugin: it passes keys on to its store as they are. */
export interface Counter {
  key: string;
  at: Date;
  /** The window, if the statement that found the session has counted the request already. */
  window?: RateWindow;
}

/** The plugin's type of a key is text. */
export const toPluginKey = (counter: Counter): string => counter as unknown as string;
const toCounter = (key: string): Counter => key as unknown as Counter;

/** Returns the store of `@fastify/rate-limit` that counts in PostgreSQL, exact over any number of processes. */
export function createRateLimitStore({ db }: Pick<Context, 'db'>): FastifyRateLimitStoreCtor {
  return class PostgresStore implements FastifyRateLimitStore {
    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number) {
      const counter = toCounter(key);
      const answer = ({ count, endsAt }: RateWindow) =>
        callback(null, { current: count, ttl: endsAt.getTime() - counter.at.getTime() });
      if (counter.window) answer(counter.window);
      else countRequest(db, { ...counter, windowMs }).then(answer, callback);
    }

    child() {
      return this;
    }
  };
}
