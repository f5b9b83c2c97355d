import type { OpenedSession } from '@carillon/contract/actions/web/index';
import type { Origin } from '../../../context.ts';
import type { Authenticated } from '../../../product/auth/authenticate.ts';

export interface Opened extends Authenticated {
  origin: Origin;
}

const opened = new WeakMap<object, Opened>();

/** Returns a handle for the actions of one request. It cannot be made elsewhere, and shows nothing. */
export function createOpenedSession(found: Opened): OpenedSession {
  const handle = Object.freeze({}) as OpenedSession;
  opened.set(handle, found);
  return handle;
}

/** Returns null for anything that `createOpenedSession` has not returned. */
export const readOpenedSession = (session: unknown): Opened | null =>
  typeof session === 'object' && session !== null ? (opened.get(session) ?? null) : null;
