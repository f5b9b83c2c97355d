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

/** The first argument of every service function. */
export interface Context {
  /** The database, or the transaction inside `inTransaction`. */
  db: Db;
  /** The only clock. SQL receives the time as a parameter. */
  now: () => Date;
  log: Logger;
  config: Config;
  tokens: SessionTokens;
  ai: Ai;
  /** For requests to addresses that users have entered. */
  http: HttpClient;
  /** Sends immediately. Service functions use `queueMail` instead, which survives a crash. */
  mail: Mail;
  files: FileStorage;
  /** The configured sign-in providers. */
  oauth: OAuth;
  integrations: Integrations;
  metrics: Metrics;
  trace: Trace;
  worker: WorkerHandle;
  /** The request that caused the work, for logs, events and the audit log. Undefined for background work. */
  requestId?: string;
  /** Undefined for server actions and background work. */
  origin?: Origin;
  /** The callbacks of `afterCommit`; undefined outside of a transaction. */
  onCommit?: (() => void)[];
}

export interface WorkerHandle {
  /** Polls at once because something was queued. */
  wakeExecutions(): void;
  wakeDeliveries(): void;
  /** Aborts those executions that run in this process, because their task was deleted. */
  abort(executionIds: readonly number[]): void;
  /** Aborted when the process starts to stop. */
  readonly stopping: AbortSignal;
  /** Whether its loops still poll for executions and deliveries. */
  isAlive(): boolean;
  /** Queues the executions of dead processes again; returns their ids. */
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

/** The signed-in user of a request. */
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

/** Runs `work` in a transaction, again after a deadlock: `work` must have no effects outside of the database. */
export async function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const onCommit: (() => void)[] = [];
      const result = await ctx.db.transaction((tx) => work({ ...ctx, db: tx, onCommit }));
      // In a nested transaction these wait for the commit of the outer one.
      for (const callback of onCommit) afterCommit(ctx, callback);
      return result;
    } catch (error) {
      if (databaseErrorCode(error) !== SQLSTATE.deadlock || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Calls `callback` after the commit of the current transaction, or at once outside of one. */
export function afterCommit(ctx: Context, callback: () => void): void {
  if (ctx.onCommit) ctx.onCommit.push(callback);
  else callback();
}
