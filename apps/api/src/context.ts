import type { Db } from '@carillon/db';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Ai } from './outside/ai.ts';

/** What every verb is handed first: the outside world, the clock among it. */
export interface Context {
  /** The database, or inside `inTransaction` the transaction. */
  db: Db;
  /** The only clock; SQL gets it as a parameter. */
  now: () => Date;
  log: Logger;
  config: Config;
  ai: Ai;
  /** Tells this process's worker that there is something new to run. A poll finds it anyway, only later. */
  nudge: () => void;
  /** The request that caused the work, where there is one; goes into logs, events and the audit log. */
  requestId?: string;
}

/** The signed-in user of a request, as the session look-up found them. */
export interface Caller {
  id: number;
  email: string;
  name: string;
  role: 'USER' | 'ADMIN';
  plan: 'trial' | 'pro';
  timezone: string | null;
  trialEndsAt: Date | null;
  createdAt: Date;
  sessionId: string;
}

export const systemClock = () => new Date();

/** Runs `work` with a context whose `db` is a transaction: all of it is committed, or nothing. */
export function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  return ctx.db.transaction((tx) => work({ ...ctx, db: tx }));
}
