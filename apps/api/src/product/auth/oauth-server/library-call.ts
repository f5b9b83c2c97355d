import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from '../../../context.ts';
import type { OAuthClient } from './clients.ts';

/** What the user has allowed. */
export interface Consent {
  userId: number;
  grantId: string;
  scopes: readonly string[];
}

export interface Source {
  grantId: string;
  userId: number;
  clientId: string;
  payload: Record<string, unknown>;
}

/** One request to the library. `ctx` is the transaction of its statements. */
export interface LibraryCall {
  ctx: Context;
  client: OAuthClient | null;
  /** Null while the user is asked, and for requests of clients. */
  consent: Consent | null;
  /** The code or refresh token of the request, once it was found and locked. */
  source?: Source;
  /** A failure that the library would answer with `server_error`. */
  failure?: unknown;
}

export const calls = new AsyncLocalStorage<LibraryCall>();

export function getCall(): LibraryCall {
  const call = calls.getStore();
  if (!call) throw new Error('The library was called outside of a request.');
  return call;
}

export interface LibraryRequest {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface LibraryAnswer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: string;
}

export type Library = (call: LibraryCall, request: LibraryRequest) => Promise<LibraryAnswer>;

/** Where the library sends those whom it would ask: this address is never visited. */
export const ASKS = '/ask';
