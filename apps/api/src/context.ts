import type { Db } from '@carillon/db';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Ai } from './outside/ai.ts';
import type { Http } from './outside/http.ts';
import type { Mail } from './outside/mail.ts';
import type { OAuth } from './outside/oauth.ts';

/** What every verb is handed first: the outside world, the clock among it. */
export interface Context {
  /** The database, or inside `inTransaction` the transaction. */
  db: Db;
  /** The only clock; SQL gets it as a parameter. */
  now: () => Date;
  log: Logger;
  config: Config;
  ai: Ai;
  /** The one way to addresses that users gave. */
  http: Http;
  /** Sends at once; verbs use `mails/queue.ts`, which loses nothing. */
  mail: Mail;
  /** The external sign-in providers that are configured. */
  oauth: OAuth;
  /** The worker of this process, as the verbs see it. */
  worker: WorkerHandle;
  /** The request that caused the work, where there is one; goes into logs, events and the audit log. */
  requestId?: string;
}

export interface WorkerHandle {
  /** Something new is queued: look at once. A poll would find it anyway, only later. */
  nudge(): void;
  /** Gives up those of the executions that run in this process: their task is gone. */
  abort(executionIds: readonly number[]): void;
  /** Aborted once the process has begun to stop. */
  readonly stopping: AbortSignal;
  /** Takes over the executions that dead processes left behind; the ids are queued again. */
  rescue(): Promise<number[]>;
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

/** SQLSTATE of a transaction that PostgreSQL chose to undo because two waited for each other. */
const DEADLOCK = '40P01';

/**
 * Runs `work` with a context whose `db` is a transaction: all of it is committed, or nothing. `work` touches nothing
 * but the database, as it is run again when PostgreSQL had to break a deadlock.
 */
export async function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ctx.db.transaction((tx) => work({ ...ctx, db: tx }));
    } catch (error) {
      if (sqlState(error) !== DEADLOCK || attempt === 3) throw error;
    }
  }
}

/** The SQLSTATE of a database error, as drizzle or the driver throws it; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
}
