import { randomUUID } from 'node:crypto';
import { auditLog, sessions, signInTickets, users } from '@carillon/db';
import { and, desc, eq, gt, ne, notInArray } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeactivated, accountDeleted, sessionRequired } from '../../errors.ts';
import { auditRow, describeActor } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { endUserConnections } from './oauth-server/connections.ts';

export const SESSION_SECONDS = 7 * 24 * 60 * 60;
const SESSIONS_PER_USER = 10;

export type Account = Pick<typeof users.$inferSelect, 'id' | 'email' | 'name' | 'role' | 'isActive' | 'passwordHash'>;

/** Gets the locked account and may throw. */
export type CheckAccount = (account: Account) => Promise<void> | void;

/** For a new account. Returns the token. */
export function openSession(ctx: Context, userId: number) {
  return inTransaction(ctx, async (tx) => writeSession(tx, await lockAccount(tx, userId)));
}

/** Returns the id of the caller's session. Throws 403 for a request with an API key. */
export function getSessionId({ sessionId }: Pick<Caller, 'sessionId'>): string {
  if (sessionId === null) throw sessionRequired();
  return sessionId;
}

/** Throws 403 for a request with an API key. */
export const assertSession = (caller: Pick<Caller, 'sessionId'>): void => void getSessionId(caller);

export async function endSession(ctx: Context, sessionId: string): Promise<void> {
  await ctx.db.delete(sessions).where(eq(sessions.id, sessionId));
}

/** Ends unfinished sign-ins and connected apps too. Returns how many sessions it has ended, expired ones included. */
export async function endUserSessions(
  ctx: Context,
  userId: number,
  { except }: { except?: string } = {},
): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update');
    await endUserConnections(tx, userId);
    await tx.db.delete(signInTickets).where(eq(signInTickets.userId, userId));
    const { count } = await tx.db
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), except === undefined ? undefined : ne(sessions.id, except)));
    return count;
  });
}

/**
 * Makes sign-ins of one user wait for each other, so that each counts the earlier sessions. Throws 401 without the account, 403 for
 * an inactive one.
 */
export async function lockAccount(ctx: Context, userId: number, check: CheckAccount = () => {}): Promise<Account> {
  const { id, email, name, role, isActive, passwordHash } = users;
  const [account] = await ctx.db
    .select({ id, email, name, role, isActive, passwordHash })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update');
  if (!account) throw accountDeleted();
  await check(account);
  if (!account.isActive) throw accountDeactivated();
  return account;
}

/** Opens a session of a locked account, and returns its token. Ends the oldest session beyond ten. */
export async function writeSession(ctx: Context, account: Account, { withFactor = false } = {}) {
  const { id: userId, email } = account;
  const id = randomUUID();
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
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
        factorAt: withFactor ? now : null,
      })
      .returning({ id: sessions.id }),
  );
  // The statement does not see its own insert.
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
  const signedIn = auditRow(ctx, { kind: 'user.signed_in', ...describeActor({ id: userId, email }) });
  await db.with(opened, ended).insert(auditLog).values(signedIn);
  return { account, sessionId: id, expiresAt, token: ctx.tokens.sign({ userId, sessionId: id }, now) };
}

export async function listSessions(ctx: Context, caller: Caller) {
  const { id, userAgent, address, createdAt, lastUsedAt, expiresAt } = sessions;
  const found = await ctx.db
    .select({ id, userAgent, address, createdAt, lastUsedAt, expiresAt })
    .from(sessions)
    .where(and(eq(sessions.userId, caller.id), gt(sessions.expiresAt, ctx.now())))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.createdAt), desc(sessions.id));
  return found.map((session) => ({ ...session, current: session.id === caller.sessionId }));
}
