import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { Db } from '@carillon/db';
import { databaseErrorCode, isOutage, SQLSTATE } from '@carillon/db/errors';
import type { Logger } from 'pino';
import type { Ai } from './lib/ai/client.ts';
import type { Config } from './lib/config/config.ts';
import type { HttpClient } from './lib/egress/client.ts';
import type { Mail } from './lib/mail/transport.ts';
import type { FileStorage } from './lib/storage/client.ts';
import type { Metrics } from './lib/telemetry/metrics.ts';
import type { Trace } from './lib/telemetry/tracing.ts';
import type { Integrations } from './lib/third-party/integrations.ts';
import type { OAuth } from './lib/third-party/oauth.ts';

export interface Context {
  /** The transaction inside `inTransaction`. */
  db: Db;
  /** The only clock; SQL receives the time as a parameter. */
  now: () => Date;
  log: Logger;
  config: Config;
  tokens: SessionTokens;
  ai: Ai;
  http: HttpClient;
  /** Sends immediately; `queueMail` survives a crash. */
  mail: Mail;
  files: FileStorage;
  oauth: OAuth;
  integrations: Integrations;
  metrics: Metrics;
  trace: Trace;
  worker: WorkerHandle;
  apiKeyUse: ApiKeyUse;
  /** Why the database cannot be used yet, while the process waits for it at its start. */
  waitingFor: string | null;
  /** Undefined for background work. */
  requestId?: string;
  /** Undefined for server actions and background work. */
  origin?: Origin;
  beforeCommit?: LastWrites;
  onCommit?: (() => void)[];
}

type Write<T> = (tx: Context, items: readonly T[]) => Promise<void>;
/** What the end of a transaction writes, by the function that writes it. */
type LastWrites = Map<Write<never>, unknown[]>;

export interface WorkerHandle {
  wakeExecutions(): void;
  wakeDeliveries(): void;
  /** Aborts cancelled and deleted executions of this process. */
  abort(executionIds: readonly number[]): void;
  /** Aborted when the shutdown begins. */
  readonly stopping: AbortSignal;
  isAlive(): boolean;
  /** Requeues executions of dead processes; returns their ids. */
  rescue(): Promise<number[]>;
}

/** Counts the requests of this process with API keys, and records them together. */
export interface ApiKeyUse {
  count(keyId: string, at: Date): void;
  /** Throws if the database is unavailable: the counts then wait for the next call. */
  flush(): Promise<void>;
}

export interface SessionTokens {
  /** The token is valid for 7 days. */
  sign(claims: SessionClaims, at: Date): string;
  /** Null unless valid at `at`; never throws. */
  verify(token: string, at: Date): SessionClaims | null;
}

export interface SessionClaims {
  userId: number;
  sessionId: string;
}

export interface Origin {
  address: string;
  userAgent: string | undefined;
}

export interface Caller {
  id: number;
  email: string;
  name: string;
  role: 'USER' | 'ADMIN';
  plan: 'trial' | 'pro';
  timezone: string | null;
  trialEndsAt: Date | null;
  createdAt: Date;
  /** Null for a request with an API key. */
  sessionId: string | null;
  /** When the session's owner last signed in or gave the password; null for a request with an API key. */
  confirmedAt: Date | null;
  /** Null for a session. */
  apiKey: CallerKey | null;
}

export interface CallerKey {
  id: string;
  name: string;
  scopes: readonly ApiKeyScope[];
}

export const systemClock = () => new Date();

const MAX_ATTEMPTS = 3;
const REPEATED: readonly (string | undefined)[] = [SQLSTATE.deadlock, SQLSTATE.serializationFailure];

/**
 * Repeats `work` after a deadlock, or when a row that it locks was moved to another partition: it must have no effects
 * outside of the database. Inside another transaction `work` is a part of it.
 */
export async function inTransaction<T>(ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T> {
  if (ctx.onCommit) return work(ctx);
  for (let attempt = 1; ; attempt++) {
    try {
      const onCommit: (() => void)[] = [];
      let lastWrites: Promise<void>[] = [];
      const result = await ctx.db.transaction(async (db) => {
        const beforeCommit: LastWrites = new Map();
        const tx = { ...ctx, db, beforeCommit, onCommit };
        const worked = await work(tx);
        // Sent with the commit, in one round trip. If one fails, the commit is answered with a rollback.
        lastWrites = [...beforeCommit].map(([write, items]) => write(tx, items as never[]));
        for (const write of lastWrites) write.catch(() => {});
        return worked;
      });
      await Promise.all(lastWrites);
      for (const callback of onCommit) callback();
      return result;
    } catch (error) {
      if (!REPEATED.includes(databaseErrorCode(error)) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Like `inTransaction`. If the database becomes unavailable meanwhile, `onUnanswered` gets the result: whether it was
 * committed is then unknown.
 */
export async function inReportedTransaction<T>(
  ctx: Context,
  work: (ctx: Context) => Promise<T>,
  onUnanswered: ((result: T) => void) | undefined,
): Promise<T> {
  let result: T | undefined;
  try {
    return await inTransaction(ctx, async (tx) => {
      result = await work(tx);
      return result;
    });
  } catch (error) {
    if (result !== undefined && isOutage(error)) onUnanswered?.(result);
    throw error;
  }
}

/**
 * Passes all `items` of the transaction to one call of `write` at its end, which sends one statement at once. The locks that
 * `write` takes are the last ones of every transaction, and held shortest.
 */
export function writeBeforeCommit<T>(ctx: Context, write: Write<T>, items: readonly T[]): void {
  if (!ctx.beforeCommit) throw new Error(`${write.name} needs a transaction.`);
  const pending = ctx.beforeCommit.get(write);
  if (pending) pending.push(...items);
  else ctx.beforeCommit.set(write, [...items]);
}

/** Calls `callback` at once outside of a transaction. */
export function afterCommit(ctx: Context, callback: () => void): void {
  if (ctx.onCommit) ctx.onCommit.push(callback);
  else callback();
}
