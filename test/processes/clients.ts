import { randomUUID } from 'node:crypto';
import { type Db, sessions } from '@carillon/db';
import { SESSION_SECONDS } from '../../apps/api/src/product/auth/sessions.ts';
import { createSessionTokens } from '../../apps/api/src/product/auth/tokens.ts';

export const JWT_SECRET = 'one secret for the processes of a test, 48 bytes';

/** Opens a session for each user and returns the bearer tokens, signed with the `JWT_SECRET` above. */
export async function signInAll(db: Db, userIds: readonly number[]): Promise<string[]> {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
  const opened = userIds.map((userId) => ({ id: randomUUID(), userId, createdAt: now, lastUsedAt: now, expiresAt }));
  await db.insert(sessions).values(opened);
  const tokens = await createSessionTokens({ jwtSecret: JWT_SECRET });
  return opened.map(({ id, userId }) => tokens.sign({ userId, sessionId: id }, now));
}

export interface Answer {
  status: number;
  ms: number;
  body: Record<string, unknown>;
  /** In seconds. */
  retryAfter?: number;
}

/** Sends a request and measures it; status -1 means no answer. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const since = performance.now();
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const ms = performance.now() - since;
    const wait = response.headers.get('retry-after');
    const body = isJson ? JSON.parse(text) : {};
    return { status: response.status, ms, body, ...(wait !== null && { retryAfter: Number(wait) }) };
  } catch {
    return { status: -1, ms: performance.now() - since, body: {} };
  }
}
