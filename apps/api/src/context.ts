import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { Language } from '@carillon/contract/primitives';
import type { ChangedVia } from '@carillon/contract/tasks/versions';
import type { Db } from '@carillon/db';
import type { Logger } from 'pino';
import type { Ai } from './lib/ai/client.ts';
import type { ProviderList } from './lib/ai/provider-list.ts';
import type { Config } from './lib/config/config.ts';
import type { HttpClient } from './lib/egress/client.ts';
import type { Mail } from './lib/mail/transport.ts';
import type { SourceReader } from './lib/sources/reader.ts';
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
  providers: ProviderList;
  http: HttpClient;
  sources: SourceReader;
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
  /** How somebody changes something. Undefined for the API. */
  via?: ChangedVia;
}

export interface WorkerHandle {
  wakeExecutions(): void;
  wakeDeliveries(): void;
  wakeLooks(): void;
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
  userAgent?: string | undefined;
  /** The header `Accept-Language`. */
  acceptLanguage?: string | undefined;
}

export interface Caller {
  id: number;
  email: string;
  name: string;
  role: 'USER' | 'ADMIN';
  plan: 'trial' | 'pro';
  timezone: string | null;
  language: Language;
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
  /** Whether it is the connection of an app, whose tokens are good for `/mcp` only. */
  isApp: boolean;
}

export const systemClock = () => new Date();
