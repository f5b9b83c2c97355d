import { normalizeEmail } from '@carillon/contract/validation/formats';
import { passwordResets, users, violatedUnique } from '@carillon/db';
import { and, eq, isNull, sql } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { storedEmail } from '../auth/write.ts';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { userKey } from '../limits/keys.ts';
import { EMAIL_CHANGES } from '../limits/rates.ts';
import { assertRateLimit } from '../limits/windows.ts';
import { queueMail } from '../mail/queue.ts';

/**
 * Throws 429 after a few changes in an hour: each attempt reveals whether an address is taken, and each change sends a
 * mail. Throws 409 for the address of `BOOTSTRAP_ADMIN_EMAIL`: its account becomes an admin at every start.
 */
export async function assertEmailChange(ctx: Context, caller: Caller, email: string): Promise<void> {
  if (normalizeEmail(email) === caller.email) return;
  const { bootstrapAdmin } = ctx.config;
  if (bootstrapAdmin && normalizeEmail(bootstrapAdmin.email) === caller.email) {
    throw new AppError(
      'conflict',
      'This address is BOOTSTRAP_ADMIN_EMAIL in the settings of the installation. Change it there first.',
    );
  }
  await assertRateLimit(ctx, EMAIL_CHANGES, userKey(EMAIL_CHANGES, caller.id));
}

/** The columns to write for an e-mail address; a new address is not verified. */
export function emailColumns(email: string | undefined) {
  if (email === undefined) return {};
  const stored = storedEmail(email);
  const verified = sql`case when ${users.email} = ${stored} then ${users.emailVerifiedAt} end`;
  return { email: stored, emailVerifiedAt: verified };
}

interface EmailChange {
  userId: number;
  before: string;
  after: string;
}

/** Voids the reset links sent to the old address, notifies it and records the change, in the transaction that writes it. */
export async function followEmailChange(ctx: Context, change: EmailChange): Promise<void> {
  const { userId, before, after } = change;
  await ctx.db
    .update(passwordResets)
    .set({ usedAt: ctx.now() })
    .where(and(eq(passwordResets.userId, userId), isNull(passwordResets.usedAt)));
  const details = { before: { email: before }, after: { email: after } };
  const actor = { actorId: userId, actorEmail: before, userId };
  await recordAudit(ctx, { kind: 'user.email_changed', ...actor, details });
  const subject = 'The e-mail address of your account was changed';
  await queueMail(ctx, { to: before, userId, subject, text: CHANGED_TEXT });
}

/** Turns a violation of the unique index, which decides between concurrent changes, into a 409. */
export async function rejectTakenEmail<T>(changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw violatedUnique(error) === EMAIL_KEY
      ? new AppError('conflict', 'This e-mail address is already registered.')
      : error;
  }
}

const EMAIL_KEY = 'users_email_key';

const CHANGED_TEXT = `Hello,

your Carillon account has another e-mail address now. This one, which it had until now, neither signs in nor gets mail
for it any more; links for a new password that were sent here are void.

If it was not you, someone else is signed in to your account: ask the people who run this service for help.
`;
