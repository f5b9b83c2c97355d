import type { Db } from '@carillon/db';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import type { Logger } from 'pino';
import type { Ai } from './ai/client.ts';
import type { Config } from './config/config.ts';
import type { HttpClient } from './egress/client.ts';
import type { Mail } from './mail/transport.ts';
import type { FileStorage } from './storage/client.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { Trace } from './telemetry/tracing.ts';
import type { Integrations } from './third-party/integrations.ts';
import type { OAuth } from './third-party/oauth.ts';

/** What every verb is handed first: the outside world, the clock among it. */
export interface Context {
  /** The database, or inside `inTransaction` the transaction. */
  db: Db;
  /** The only clock; SQL gets it as a parameter. */
  now: () => Date;
  log: Logger;
  config: Config;
  tokens: SessionTokens;
  ai: Ai;
  /** The one way to addresses that users gave. */
  http: HttpClient;
  /** Sends at once; verbs use `mails/queue.ts`, which loses nothing. */
  mail: Mail;
  /** The storage of uploaded files. */
  files: FileStorage;
  /** The external sign-in providers that are configured. */
  oauth: OAuth;
  integrations: Integrations;
  metrics: Metrics;
  trace: Trace;
  /** The worker of this process, as the verbs see it. */
  worker: WorkerHandle;
  /** The request that caused the work, where there is one; goes into logs, events and the audit log. */
  requestId?: string;
  /** Where that request came from; undefined for server actions and for work of the service itself. */
  origin?: Origin;
  /** In a transaction: what `afterCommit` was given. */
  onCommit?: (() => void)[];
}

export interface WorkerHandle {
  /** Something new is queued: look at once. A poll would find it anyway, only later. */
  wakeExecutions(): void;
  /** The same for deliveries to webhooks. */
  wakeDeliveries(): void;
  /** Gives up those of the executions that run in this process: their task is gone. */
  abort(executionIds: readonly number[]): void;
  /** Aborted once the process has begun to stop. */
  readonly stopping: AbortSignal;
  /** Whether its loops go round: executions and deliveries are looked for. */
  isAlive(): boolean;
  /** Takes over the executions that dead processes left behind; the ids are queued again. */
  rescue(): Promise<number[]>;
}

/** Signs and verifies the tokens that carry sessions. */
export interface SessionTokens {
  /** Returns a token that expires 7 days after `at`. */
  sign(claims: SessionClaims, at: Date): string;
  /** Returns null for anything but a token of this service that is valid at `at`; never throws. */
  verify(token: string, at: Date): SessionClaims | null;
}

export interface SessionClaims {
  userId: number;
  sessionId: string;
}

export interface Origin {
  /** The caller's IP address. */
  address: string;
  userAgent: string | undefined;
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

const MAX_ATTEMPTS = 3;

/**
 * Runs `work` with a context whose `db` is a transaction: all of it is committed, or nothing. `work` touches nothing
 * but the database, as it is run again when PostgreSQL had to break a deadlock.
 */
export async function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const onCommit: (() => void)[] = [];
      const result = await ctx.db.transaction((tx) => work({ ...ctx, db: tx, onCommit }));
      // Of a transaction within another one it is the outer one's commit that counts.
      for (const follow of onCommit) afterCommit(ctx, follow);
      return result;
    } catch (error) {
      if (databaseErrorCode(error) !== SQLSTATE.deadlock || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Runs `follow` once the caller's transaction is committed, and never if it is not; at once where there is none. */
export function afterCommit(ctx: Context, follow: () => void): void {
  if (ctx.onCommit) ctx.onCommit.push(follow);
  else follow();
}
