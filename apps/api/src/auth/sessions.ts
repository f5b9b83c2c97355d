import { randomUUID } from 'node:crypto';
import { auditLog, sessions, users } from '@carillon/db';
import { and, desc, eq, gt, ne, notInArray } from 'drizzle-orm';
import { auditRow } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { accountDeactivated, accountDeleted } from '../errors.ts';
import { type Hit, hitValues, type RateLimitState } from '../limits/windows.ts';
import type { OwnedRows } from '../queries/owned-row.ts';
import { callerAndRowQuery, callerQuery } from './caller-query.ts';

/** How long a session lasts: 7 days. */
export const SESSION_SECONDS = 7 * 24 * 60 * 60;
const SESSIONS_PER_USER = 10;
/** `lastUsedAt` is exact to this much, so that a busy session is not written at every request. */
const TOUCH_EVERY_MS = 60_000;

/** A user's row as it is while it is locked. */
export type Account = Pick<typeof users.$inferSelect, 'id' | 'email' | 'name' | 'role' | 'isActive' | 'passwordHash'>;

/**
 * Opens a session of 7 days and returns its token (specification "Session"). A user has at most 10, however many
 * sign-ins run at once: the 11th ends the oldest. `admit` sees the account under its lock and may refuse; nothing has
 * happened then. An account that is gone is refused as `unauthenticated`, a deactivated one as `forbidden`.
 */
export function openSession(
  ctx: Context,
  userId: number,
  admit: (account: Account) => Promise<void> | void = () => {},
) {
  return inTransaction(ctx, async (tx) => {
    const account = await lockAccount(tx, userId);
    if (!account) throw accountDeleted();
    await admit(account);
    if (!account.isActive) throw accountDeactivated();
    const id = randomUUID();
    const now = ctx.now();
    const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
    await writeSession(tx, account, { id, now, expiresAt });
    return { account, sessionId: id, expiresAt, token: ctx.tokens.sign({ userId, sessionId: id }, now) };
  });
}

export interface Found {
  caller: Caller;
  standing: RateLimitState;
  /** Whether the service is in maintenance mode at this moment. */
  maintenance: boolean;
}

/** As `Found`, where the request may not have been counted. */
export type FoundUncounted = Omit<Found, 'standing'> & { standing: RateLimitState | null };

/** A row of the user's that the request is going to ask for. */
export interface Prefetch {
  rows: OwnedRows;
  id: number;
}

/**
 * The user whose live session `token` carries, and where they stand once this request is counted as `hitBy` says; null
 * where there is none, and nothing is counted then. Without `hitBy` nothing is counted at all. Every request makes this
 * one look-up, so it is one statement: as a second one, counting would cost a third of what a process can serve, and so
 * would the row that many come for, which `findOwn` has from here when it is named as `ahead`.
 */
export async function findCaller(
  ctx: Context,
  token: string | null,
  hitBy: (userId: number) => Hit,
  ahead?: Prefetch | null,
): Promise<Found | null>;
export async function findCaller(
  ctx: Context,
  token: string | null,
  hitBy: ((userId: number) => Hit) | null,
): Promise<FoundUncounted | null>;
export async function findCaller(
  ctx: Context,
  token: string | null,
  hitBy: ((userId: number) => Hit) | null,
  ahead: Prefetch | null = null,
) {
  const now = ctx.now();
  const claims = token === null ? null : ctx.tokens.verify(token, now);
  if (!claims) return null;
  const hit = hitBy?.(claims.userId) ?? null;
  const values = {
    ...claims,
    ...hitValues(hit),
    now: now.toISOString(),
    staleAt: new Date(now.getTime() - TOUCH_EVERY_MS).toISOString(),
  };
  const found = await (ahead ? findWithRow(ctx, values, ahead) : findWithoutRow(ctx, values));
  if (!found) return null;
  const standing = hit && found.hit && { limit: hit.limit, windowMs: hit.windowMs, ...found.hit };
  return { caller: found.found, standing, maintenance: found.mode.maintenance };
}

async function findWithoutRow({ db }: Context, values: Record<string, unknown>) {
  const [found] = await callerQuery(db).execute(values);
  return found;
}

async function findWithRow({ db }: Context, values: Record<string, unknown>, { rows, id }: Prefetch) {
  const [found] = await callerAndRowQuery(rows)(db).execute({ ...values, rowId: id });
  if (found) rows.readAhead.set(found.found, { id, row: found.row });
  return found;
}

/** Ends one session. */
export async function endSession(ctx: Context, sessionId: string): Promise<void> {
  await ctx.db.delete(sessions).where(eq(sessions.id, sessionId));
}

/** Ends all sessions of a user, but for the session `except`. */
export async function endUserSessions(
  ctx: Context,
  userId: number,
  { except }: { except?: string } = {},
): Promise<void> {
  await ctx.db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), except === undefined ? undefined : ne(sessions.id, except)));
}

/** Sign-ins of one user queue up here, so that each of them counts the sessions of those before it. */
async function lockAccount(ctx: Context, userId: number): Promise<Account | undefined> {
  const { id, email, name, role, isActive, passwordHash } = users;
  const [account] = await ctx.db
    .select({ id, email, name, role, isActive, passwordHash })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  return account;
}

interface NewSession {
  id: string;
  now: Date;
  expiresAt: Date;
}

/** One statement: the new session, the end of those beyond the newest ten, and the record of the sign-in. */
async function writeSession(ctx: Context, { id: userId, email }: Account, { id, now, expiresAt }: NewSession) {
  const { db, origin } = ctx;
  const opened = db.$with('opened').as(
    db
      .insert(sessions)
      .values({
        id,
        userId,
        address: origin?.address,
        userAgent: origin?.userAgent?.slice(0, 500),
        createdAt: now,
        lastUsedAt: now,
        expiresAt,
      })
      .returning({ id: sessions.id }),
  );
  // The statement does not see its own insert: the others may keep nine places.
  const kept = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(SESSIONS_PER_USER - 1);
  const ended = db.$with('ended').as(
    db
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), notInArray(sessions.id, kept)))
      .returning({ id: sessions.id }),
  );
  const signedIn = { kind: 'user.signed_in', actorId: userId, actorEmail: email, userId } as const;
  await db.with(opened, ended).insert(auditLog).values(auditRow(ctx, signedIn));
}
