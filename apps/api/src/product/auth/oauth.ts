import { identities, users } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import type { OAuthFlow, OAuthProfile, OAuthProvider } from '../../lib/third-party/oauth.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { listFactorKinds } from './factors/read.ts';
import { isFactorDemanded, linkIdentity, openSessionOrAsk } from './factors/sign-in.ts';
import { deleteUserApiKeys } from './keys/write.ts';
import { endUserSessions } from './sessions.ts';
import { cancelEmailChange, hasEmail, insertAccount } from './write.ts';

export const getCallbackUrl = (ctx: Context, provider: string) =>
  `${ctx.config.baseUrl}/api/auth/oauth/${provider}/callback`;

export async function beginOAuth(ctx: Context, provider: string) {
  const begun = await getProvider(ctx, provider).begin(getCallbackUrl(ctx, provider));
  if (!begun) throw providerUnreachable(provider);
  return begun;
}

/** Finds the account by the provider's identifier, or else links or creates the one of a verified address. */
export async function finishOAuth(ctx: Context, provider: string, callback: URL, flow: OAuthFlow | null) {
  const client = getProvider(ctx, provider);
  if (!flow)
    throw new AppError('sign_in_failed', 'This sign-in did not start in this browser, or took too long. Start again.');
  const outcome = await client.finish(callback, flow);
  if (!outcome.ok) {
    if (outcome.reason === 'unreachable') throw providerUnreachable(provider);
    throw new AppError('sign_in_failed', 'The provider did not confirm the sign-in. Start again.');
  }
  const { profile } = outcome;
  const { userId, identity } = await inTransaction(ctx, async (tx) => {
    const known = await findIdentity(tx, provider, profile);
    return known === undefined ? linkAccount(tx, provider, profile) : { userId: known, identity: null };
  });
  return openSessionOrAsk(ctx, userId, { identity, ...(!identity && { asks: isFactorDemanded }) });
}

function getProvider(ctx: Context, provider: string): OAuthProvider {
  const found = ctx.oauth.get(provider);
  if (!found) throw new AppError('not_found', 'Sign-in provider not found');
  return found;
}

const providerUnreachable = (provider: string) =>
  new AppError('unavailable', `The sign-in provider ${provider} does not answer: try again later.`);

async function findIdentity(ctx: Context, provider: string, { subject }: OAuthProfile): Promise<number | undefined> {
  const [identity] = await ctx.db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.subject, subject)));
  return identity?.userId;
}

interface Linked {
  userId: number;
  /** Linked once the second factor of the account is given; null if it is linked. */
  identity: { provider: string; subject: string } | null;
}

/** The unique e-mail address decides between two concurrent callbacks of one person. */
async function linkAccount(ctx: Context, provider: string, profile: OAuthProfile): Promise<Linked> {
  const { email, emailVerified, subject } = profile;
  if (email === null || !emailVerified) {
    throw new AppError('forbidden', 'The provider has not verified your e-mail address.');
  }
  const identityUserId = `${provider}:${subject}`;
  const account = {
    email,
    name: toAccountName(profile, email),
    passwordHash: null,
    role: 'USER',
    identityUserId,
  } as const;
  const created = await insertAccount(ctx, { ...account, emailVerified: true });
  const identity = { provider, subject };
  if (!created) return linkExistingAccount(ctx, email, identityUserId, identity);
  await ctx.db
    .insert(identities)
    .values({ userId: created.id, ...identity, createdAt: ctx.now() })
    .onConflictDoNothing();
  await recordAudit(ctx, { kind: 'user.registered', ...describeActor(created) });
  return { userId: created.id, identity: null };
}

/**
 * Leaves an account with a second factor to the one who gives it. Removes the credentials of any other unconfirmed account, because
 * another person may have registered the address.
 */
async function linkExistingAccount(
  ctx: Context,
  email: string,
  identityUserId: string,
  identity: NonNullable<Linked['identity']>,
): Promise<Linked> {
  const [account] = await ctx.db
    .select({ id: users.id, email: users.email, emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(hasEmail(email))
    .for('no key update');
  if (!account) throw new AppError('sign_in_failed', 'The account was deleted during the sign-in. Start again.');
  if ((await listFactorKinds(ctx, account.id)).length > 0) return { userId: account.id, identity };
  if (account.emailVerifiedAt === null) {
    const now = ctx.now();
    await ctx.db
      .update(users)
      .set({ identityUserId, passwordHash: null, emailVerifiedAt: now, updatedAt: now })
      .where(eq(users.id, account.id));
    await ctx.db.delete(identities).where(eq(identities.userId, account.id));
    await cancelEmailChange(ctx, account.id);
    await endUserSessions(ctx, account.id);
    await deleteUserApiKeys(ctx, account.id);
  }
  await linkIdentity(ctx, account, identity);
  return { userId: account.id, identity: null };
}

/** Returns 2 to 100 characters; default: the e-mail address. */
function toAccountName({ name }: OAuthProfile, email: string): string {
  const known = [...(name ?? '').toWellFormed().replaceAll('\0', '').trim()].slice(0, 100).join('');
  return [...known].length >= 2 ? known : email.slice(0, 100);
}
