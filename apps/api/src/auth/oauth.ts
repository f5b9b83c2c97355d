import { identities, users } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { type Context, inTransaction } from '../context.ts';
import { AppError, accountDeactivated } from '../errors.ts';
import type { OAuthFlow, OAuthProfile, OAuthProvider } from '../third-party/oauth.ts';
import { endUserSessions, openSession } from './sessions.ts';
import { hasEmail, insertAccount } from './write.ts';

/** The address that `provider` sends the browser back to; registered there by the operator. */
export const getCallbackUrl = (ctx: Context, provider: string) =>
  `${ctx.config.baseUrl}/api/auth/oauth/${provider}/callback`;

/** Begins a sign-in: where to send the browser, and what the callback has to be given again. */
export async function beginOAuth(ctx: Context, provider: string) {
  const begun = await getProvider(ctx, provider).begin(getCallbackUrl(ctx, provider));
  return begun ?? refuseUnreachable(provider);
}

/**
 * Finishes a sign-in and opens a session (specification "Authentication" 3). A person who signed in this way before is
 * known by the provider's identifier, whatever the address says by now. Otherwise the account of the address is linked,
 * or a new one made, but only where the provider has verified the address (`forbidden`). Refusals: `bad_request` where
 * the answer does not fit the flow, `unavailable` where the provider does not answer.
 */
export async function finishOAuth(ctx: Context, provider: string, callback: URL, flow: OAuthFlow | null) {
  const asked = getProvider(ctx, provider);
  if (!flow) throw new AppError('bad_request', 'This sign-in was not begun here, or took too long: begin anew.');
  const outcome = await asked.finish(callback, flow);
  if (!outcome.ok) {
    if (outcome.reason === 'unreachable') return refuseUnreachable(provider);
    throw new AppError('bad_request', 'The provider did not confirm the sign-in: begin anew.');
  }
  const { profile } = outcome;
  const userId = await inTransaction(ctx, async (tx) => {
    const known = await findIdentity(tx, provider, profile);
    return known ?? linkAccount(tx, provider, profile);
  });
  return openSession(ctx, userId, (account) => {
    if (!account.isActive) throw accountDeactivated();
  });
}

function getProvider(ctx: Context, provider: string): OAuthProvider {
  const found = ctx.oauth.get(provider);
  if (!found) throw new AppError('not_found', 'There is no such sign-in provider.');
  return found;
}

function refuseUnreachable(provider: string): never {
  throw new AppError('unavailable', `The sign-in provider ${provider} does not answer: try again later.`);
}

async function findIdentity(ctx: Context, provider: string, { subject }: OAuthProfile): Promise<number | undefined> {
  const [identity] = await ctx.db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));
  return identity?.userId;
}

/** Links the account of a verified address, or makes one. Two callbacks of one person at once: the address decides. */
async function linkAccount(ctx: Context, provider: string, profile: OAuthProfile): Promise<number> {
  const { email, emailVerified, subject } = profile;
  if (email === null || !emailVerified) {
    throw new AppError('forbidden', 'The provider has not verified your e-mail address.');
  }
  const identityUserId = `${provider}:${subject}`;
  const account = { email, name: nameOf(profile, email), passwordHash: null, role: 'USER', identityUserId } as const;
  const created = await insertAccount(ctx, { ...account, emailVerified: true });
  const userId = created?.id ?? (await takeOver(ctx, email, identityUserId));
  await ctx.db.insert(identities).values({ userId, provider, subject, createdAt: ctx.now() }).onConflictDoNothing();
  const kind = created ? 'user.registered' : 'user.linked';
  await recordAudit(ctx, { kind, actorId: userId, actorEmail: email, userId });
  return userId;
}

/**
 * The account that an address has already. Whoever registered it may not have owned the address: a password that no
 * mail to it ever confirmed goes, and with it every session and every other way to sign in: an account can be given an
 * address after it was linked.
 */
async function takeOver(ctx: Context, email: string, identityUserId: string): Promise<number> {
  const [account] = await ctx.db
    .select({ id: users.id, emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(hasEmail(email))
    .for('no key update');
  if (!account) throw new AppError('bad_request', 'The account was deleted meanwhile: begin anew.');
  if (account.emailVerifiedAt === null) {
    const now = ctx.now();
    await ctx.db
      .update(users)
      .set({ identityUserId, passwordHash: null, emailVerifiedAt: now, updatedAt: now })
      .where(eq(users.id, account.id));
    await ctx.db.delete(identities).where(eq(identities.userId, account.id));
    await endUserSessions(ctx, account.id);
  }
  return account.id;
}

/** A name of the 2 to 100 characters that the specification asks for, from what the provider knows. */
function nameOf({ name }: OAuthProfile, email: string): string {
  const told = [...(name ?? '').toWellFormed().replaceAll('\0', '').trim()].slice(0, 100).join('');
  return [...told].length >= 2 ? told : email.slice(0, 100);
}
