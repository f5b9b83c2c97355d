import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { Context } from '../context.ts';
import { countRequest, type RateWindow } from '../limits/windows.ts';

/** Takes the place of the text key, which the plugin passes on to its store as it is. */
export interface Counter {
  key: string;
  at: Date;
  /** Set if the statement that found the session has counted the request. */
  window?: RateWindow;
}

export const toPluginKey = (counter: Counter): string => counter as unknown as string;
const toCounter = (key: string): Counter => key as unknown as Counter;

/** Counts for `@fastify/rate-limit` in PostgreSQL, exact over any number of processes. */
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
