import type { AnswerTicketInput } from '@carillon/contract/accounts/factors';
import type { PasskeyAssertion } from '@carillon/contract/accounts/proofs';
import { identities, settings, signInTickets } from '@carillon/db';
import { and, eq, gt, lt, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { generateLinkToken, hashLinkToken } from '../../../lib/crypto/tokens.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';
import { type Account, type CheckAccount, lockAccount, writeSession } from '../sessions.ts';
import { countWrongCodes, type GivenCode, useCode } from './codes.ts';
import { usePasskey, verifyPasskey } from './passkeys.ts';
import { listFactorKinds } from './read.ts';

const TICKET_MS = 5 * 60 * 1000;
const CODES_PER_TICKET = 5;

interface Options {
  check?: CheckAccount;
  /** Whether to ask an account that has a factor. Default: always. */
  asks?: (tx: Context, account: Account) => Promise<boolean>;
  /** The sign-in provider's account to link once the factor is given. */
  identity?: { provider: string; subject: string } | null;
}

/** Opens a session after the first factor. Throws `second_factor_required` with a ticket if there is a second one. */
export async function openSessionOrAsk(ctx: Context, userId: number, options: Options = {}) {
  const { check, asks = async () => true, identity = null } = options;
  const opened = await inTransaction(ctx, async (tx) => {
    const account = await lockAccount(tx, userId, check);
    const kinds = await listFactorKinds(tx, userId);
    if (kinds.length > 0 && (await asks(tx, account))) {
      return { ticket: await createTicket(tx, userId, identity), kinds };
    }
    // The factor was deleted since the provider's account was looked up.
    if (identity) throw new AppError('sign_in_failed', 'The account has changed during the sign-in. Start again.');
    return writeSession(tx, account);
  });
  if ('kinds' in opened) {
    throw new AppError('second_factor_required', 'Send a code of your authenticator app, or use a passkey.', opened);
  }
  return toSignedIn(opened);
}

export type SignedIn = ReturnType<typeof toSignedIn>;

/** What a sign-in answers. */
const toSignedIn = ({ account, token, expiresAt }: Awaited<ReturnType<typeof writeSession>>) => ({
  user: { id: account.id, email: account.email, name: account.name, role: account.role },
  token,
  expiresAt,
});

/** Whether the installation asks this account for a second factor. */
export async function isFactorDemanded(ctx: Context, { role }: Pick<Account, 'role'>): Promise<boolean> {
  const [row] = await ctx.db.select({ secondFactor: settings.secondFactor }).from(settings);
  return row?.secondFactor === 'all' || (row?.secondFactor === 'admins' && role === 'ADMIN');
}

async function createTicket(ctx: Context, userId: number, identity: Options['identity']): Promise<string> {
  const ticket = generateLinkToken();
  const expiresAt = new Date(ctx.now().getTime() + TICKET_MS);
  await ctx.db.insert(signInTickets).values({ tokenHash: hashLinkToken(ticket), userId, expiresAt, ...identity });
  return ticket;
}

/** Opens the session that a ticket waits for. Throws `ticket_invalid`, `factor_rejected`, 403 and 429. */
export async function answerTicket(ctx: Context, { ticket, ...given }: AnswerTicketInput) {
  const code = readCode(given);
  const userId = await countAttempt(ctx, ticket);
  return countWrongCodes(ctx, userId, () =>
    inTransaction(ctx, async (tx) => {
      const account = await lockAccount(tx, userId);
      // Of concurrent answers one gets the ticket; a wrong code puts it back.
      const [used] = await tx.db.delete(signInTickets).where(isOpen(tx, ticket)).returning();
      if (!used) throw ticketInvalid();
      await useCode(tx, userId, code);
      if (used.provider !== null && used.subject !== null) {
        await linkIdentity(tx, account, { provider: used.provider, subject: used.subject });
      }
      return toSignedIn(await writeSession(tx, account, { withFactor: true }));
    }),
  );
}

/** Throws 400 unless there is one of both. */
function readCode({ code, recoveryCode }: { code?: string; recoveryCode?: string }): GivenCode {
  if (code !== undefined && recoveryCode !== undefined)
    throw invalidField('recoveryCode', 'cannot be sent with a code');
  if (recoveryCode !== undefined) return { recoveryCode };
  if (code === undefined) throw invalidField('code', 'is required');
  return { code };
}

/** Committed before any code is compared, so that concurrent guesses share the five. */
async function countAttempt(ctx: Context, ticket: string): Promise<number> {
  const [counted] = await ctx.db
    .update(signInTickets)
    .set({ attempts: sql`${signInTickets.attempts} + 1` })
    .where(and(isOpen(ctx, ticket), lt(signInTickets.attempts, CODES_PER_TICKET)))
    .returning({ userId: signInTickets.userId });
  if (!counted) throw ticketInvalid();
  return counted.userId;
}

const isOpen = ({ now }: Context, ticket: string) =>
  and(eq(signInTickets.tokenHash, hashLinkToken(ticket)), gt(signInTickets.expiresAt, now()));

const ticketInvalid = () => new AppError('ticket_invalid', 'This sign-in is used or too old: start again.');

export async function linkIdentity(
  ctx: Context,
  { id: userId, email }: Pick<Account, 'id' | 'email'>,
  identity: { provider: string; subject: string },
): Promise<void> {
  await ctx.db
    .insert(identities)
    .values({ userId, ...identity, createdAt: ctx.now() })
    .onConflictDoNothing();
  await recordAudit(ctx, { kind: 'user.linked', ...describeActor({ id: userId, email }) });
}

/** Without a password: the device has verified the person. Throws `factor_rejected` and 403. */
export async function signInWithPasskey(ctx: Context, response: PasskeyAssertion, bindings: readonly string[]) {
  const passkey = await verifyPasskey(ctx, response, bindings);
  return inTransaction(ctx, async (tx) => {
    const account = await lockAccount(tx, passkey.userId);
    await usePasskey(tx, passkey);
    return toSignedIn(await writeSession(tx, account, { withFactor: true }));
  });
}
