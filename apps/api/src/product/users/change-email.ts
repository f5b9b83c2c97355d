import { normalizeEmail } from '@carillon/contract/validation/formats';
import { emailChanges, users, violatedUnique } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { generateLinkToken, hashLinkToken, LINK_LIFETIME_MS } from '../../lib/crypto/tokens.ts';
import { buildConfirmationLink } from '../../lib/mail/links.ts';
import { queueMail } from '../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { CONFIRMATIONS_TO_ADDRESS, EMAIL_CHANGES, emailKey, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { type AssertSamePassword, verifyCurrentPassword } from '../auth/current-password.ts';
import { assertSession } from '../auth/sessions.ts';
import { cancelEmailChange, hasEmail, storedEmail } from '../auth/write.ts';

/** Server actions have no field for a password: `by_mail` has the present address approve the change. */
export type EmailProof = { currentPassword: string | undefined } | 'by_mail';

/** What `startEmailChange` needs. A null `step` cancels an earlier change: the address is the present one. */
interface EmailChange {
  email: string;
  step: (typeof emailChanges.$inferSelect)['step'] | null;
  assertSamePassword: AssertSamePassword | null;
}

/**
 * Verifies the proof outside of the transaction, because hashing is slow. Throws like `assertSession` and
 * `verifyCurrentPassword`, 429 after a few changes in an hour, because each reveals whether an address is taken and sends
 * mails, and 409 for the address of `BOOTSTRAP_ADMIN_EMAIL`: its account becomes an admin at every start.
 */
export async function prepareEmailChange(
  ctx: Context,
  caller: Caller,
  email: string,
  proof: EmailProof,
): Promise<EmailChange> {
  assertSession(caller);
  if (normalizeEmail(email) === caller.email) return { email, step: null, assertSamePassword: null };
  assertNotBootstrapAdmin(ctx, caller.email);
  const assertSamePassword =
    proof === 'by_mail' ? null : await verifyCurrentPassword(ctx, caller, proof.currentPassword);
  await assertRateLimit(ctx, EMAIL_CHANGES, userKey(EMAIL_CHANGES, caller.id));
  await assertRateLimit(ctx, CONFIRMATIONS_TO_ADDRESS, emailKey(CONFIRMATIONS_TO_ADDRESS, email));
  return { email, step: assertSamePassword ? 'confirm' : 'approve', assertSamePassword };
}

type LockedAccount = Pick<typeof users.$inferSelect, 'id' | 'email' | 'language' | 'passwordHash'>;

/** Mails the link that continues the change, and replaces an earlier change. Throws 409 for a taken address. */
export async function startEmailChange(ctx: Context, account: LockedAccount, change: EmailChange): Promise<void> {
  const { email, step } = change;
  if (step === null) return cancelEmailChange(ctx, account.id);
  await change.assertSamePassword?.(account.passwordHash);
  await assertFree(ctx, email);
  const { id: userId, language } = account;
  const { mails } = getTexts(language);
  const details = { before: { email: account.email }, after: { email: normalizeEmail(email) } };
  await recordAudit(ctx, { kind: 'user.email_change_requested', ...describeActor(account), details });
  if (step === 'confirm') {
    await mailConfirmation(ctx, account, email);
    await queueMail(ctx, { to: account.email, userId, ...mails.emailChangeRequested(normalizeEmail(email)) });
  } else {
    const { link, address } = await saveLink(ctx, userId, email, step);
    await queueMail(ctx, { to: account.email, userId, ...mails.approveEmail(address, link) });
  }
}

/** Mails the link to the new address, in the transaction that starts or approves the change. */
export async function mailConfirmation(
  ctx: Context,
  { id: userId, language }: Pick<LockedAccount, 'id' | 'language'>,
  email: string,
): Promise<void> {
  const { link, address } = await saveLink(ctx, userId, email, 'confirm');
  await queueMail(ctx, { to: address, userId, ...getTexts(language).mails.confirmEmail(link) });
}

async function saveLink(ctx: Context, userId: number, email: string, step: 'approve' | 'confirm') {
  const token = generateLinkToken();
  const expiresAt = new Date(ctx.now().getTime() + LINK_LIFETIME_MS);
  const values = { email: storedEmail(email), step, tokenHash: hashLinkToken(token), expiresAt };
  const [saved] = await ctx.db
    .insert(emailChanges)
    .values({ userId, ...values })
    .onConflictDoUpdate({ target: emailChanges.userId, set: values })
    .returning({ address: emailChanges.email });
  if (!saved) throw new Error('The upsert of an e-mail change has returned no row.');
  return { link: buildConfirmationLink(ctx, token), address: saved.address };
}

/** Throws 409. The unique index decides once the change is confirmed. */
export async function assertFree(ctx: Context, email: string): Promise<void> {
  const [taken] = await ctx.db.select({ id: users.id }).from(users).where(hasEmail(email));
  if (taken) throw emailTaken();
}

export function assertNotBootstrapAdmin({ config: { bootstrapAdmin } }: Context, email: string): void {
  if (!bootstrapAdmin || normalizeEmail(bootstrapAdmin.email) !== email) return;
  throw new AppError(
    'conflict',
    'This address is BOOTSTRAP_ADMIN_EMAIL in the settings of the installation. Change it there first.',
  );
}

/** Turns a violation of the unique index, which decides between concurrent changes, into a 409. */
export async function rejectTakenEmail<T>(changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw violatedUnique(error) === 'users_email_key' ? emailTaken() : error;
  }
}

const emailTaken = () => new AppError('conflict', 'This e-mail address is already registered.');
