import { mails, notificationAddresses } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import * as mail from '../../src/lib/mail/deliver.ts';
import { findLink } from '../../src/lib/mail/links.ts';
import { decryptBody } from '../../src/lib/mail/queue.ts';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { failAlertMail } from '../../src/product/notifications/alerts/undelivered.ts';
import { inTransaction } from '../../src/transaction.ts';

/** Delivers due mails as the worker does. */
export const deliverDueMails = (ctx: Context, options: { graceMs?: number } = {}) =>
  mail.deliverDueMails(ctx, {
    composeReset: (address) => composeReset(ctx, address),
    failAlert: (failed, write) => failAlertMail(ctx, failed, write),
    transact: (work) => inTransaction(ctx, ({ db }) => work(db)),
    ...options,
  });

/** Returns the tokens of the links that were queued for an address, oldest first. */
export async function readQueuedTokens(ctx: Context, recipient: string): Promise<string[]> {
  const queued = await ctx.db.select().from(mails).where(eq(mails.recipient, recipient)).orderBy(asc(mails.createdAt));
  const links = queued.map(({ id, bodyEncrypted }) => findLink(decryptBody(ctx, id, bodyEncrypted ?? '')));
  return links.flatMap((link) => link?.split('/').at(-1) ?? []);
}

/** Lets mail of a user be sent to the addresses. */
export async function confirmAddresses(ctx: Context, userId: number, emails: readonly string[]): Promise<void> {
  const confirmedAt = ctx.now();
  await ctx.db.insert(notificationAddresses).values(emails.map((email) => ({ userId, email, confirmedAt })));
}
