import { normalizeEmail } from '@carillon/contract/validation/formats';
import { endpoints, notificationAddresses, queryRows, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import {
  type AnyColumn,
  and,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  not,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { generateLinkToken, hashLinkToken, LINK_LIFETIME_MS } from '../../lib/crypto/tokens.ts';
import { buildConfirmationLink } from '../../lib/mail/links.ts';
import { queueMail } from '../../lib/mail/queue.ts';
import { CONFIRMATIONS_OF_USER, CONFIRMATIONS_TO_ADDRESS, emailKey, userKey } from '../../platform/limits/rates.ts';
import { recordRejection } from '../../platform/limits/rejections.ts';
import { checkRateLimit } from '../../platform/limits/windows.ts';
import { isConfirmedSql } from '../../platform/queries/channel-choices.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';

const { userId, email, tokenHash, expiresAt, confirmedAt } = notificationAddresses;

/** Whether the settings, a task or a channel of the user name the address. */
const isNamed = sql`(exists (select from users u where u.id = ${userId} and ${email} = any(u.notification_emails))
  or exists (select from tasks t where t.user_id = ${userId} and t.notification_email = ${email})
  or exists (select from endpoints h where h.user_id = ${userId} and h.kind = 'email'
    and h.shown_settings ->> 'address' = ${email}))`;

const isVerifiedOwn = sql`exists (
  select from users u where u.id = ${userId} and u.email = ${email} and u.email_verified_at is not null)`;

/**
 * Mails a link to each address that is not confirmed and has no valid link, in the transaction that saves the addresses;
 * `again`: also if it has one, which ends.
 * Beyond the limits of such mails the address waits until it is saved again.
 */
export async function requestConfirmations(
  ctx: Context,
  owner: number,
  addresses: readonly string[],
  { again = false } = {},
): Promise<void> {
  if (addresses.length === 0) return;
  const [account] = await ctx.db
    .select({ id: users.id, email: users.email, language: users.language, emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.id, owner));
  if (!account) return;
  const isOwn = (address: string) => address === account.email && account.emailVerifiedAt !== null;
  // Sorted, so that two transactions cannot deadlock.
  const wanted = [...new Set(addresses.map(normalizeEmail))].filter((address) => !isOwn(address)).sort();
  if (wanted.length === 0) return;
  const isUnconfirmed = and(eq(userId, owner), isNull(confirmedAt));
  const isOpen = and(isUnconfirmed, or(isNull(expiresAt), lte(expiresAt, ctx.now())));
  await ctx.db.delete(notificationAddresses).where(and(isOpen, notInArray(email, wanted), not(isNamed)));
  const rows = wanted.map((address) => ({ userId: owner, email: address }));
  await ctx.db.insert(notificationAddresses).values(rows).onConflictDoNothing();
  const unconfirmed = await ctx.db
    .select({ address: email })
    .from(notificationAddresses)
    .where(and(again ? isUnconfirmed : isOpen, inArray(email, wanted)))
    .orderBy(email)
    .for('update');
  for (const { address } of unconfirmed) {
    if (await countConfirmation(ctx, owner, address)) await mailLink(ctx, account, address);
  }
}

/** Mails another link to an address that the caller has named. Throws 404 if it does not wait for one. */
export function requestConfirmationAgain(ctx: Context, caller: Pick<Caller, 'id'>, address: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const isWaiting = and(eq(userId, caller.id), eq(email, normalizeEmail(address)), isNull(confirmedAt));
    const [found] = await tx.db.select({ email }).from(notificationAddresses).where(isWaiting);
    if (!found) throw new AppError('not_found', 'Address not found');
    await requestConfirmations(tx, caller.id, [found.email], { again: true });
  });
}

async function countConfirmation(ctx: Context, owner: number, address: string): Promise<boolean> {
  for (const [rate, key] of [
    [CONFIRMATIONS_OF_USER, userKey(CONFIRMATIONS_OF_USER, owner)],
    [CONFIRMATIONS_TO_ADDRESS, emailKey(CONFIRMATIONS_TO_ADDRESS, address)],
  ] as const) {
    const { isExceeded } = await checkRateLimit(ctx, rate, key);
    if (!isExceeded) continue;
    await recordRejection(ctx, rate.bucket);
    return false;
  }
  return true;
}

type Owner = Pick<typeof users.$inferSelect, 'id' | 'email' | 'language'>;

async function mailLink(ctx: Context, owner: Owner, address: string): Promise<void> {
  const token = generateLinkToken();
  await ctx.db
    .update(notificationAddresses)
    .set({ tokenHash: hashLinkToken(token), expiresAt: new Date(ctx.now().getTime() + LINK_LIFETIME_MS) })
    .where(and(eq(userId, owner.id), eq(email, address)));
  const mail = getTexts(owner.language).mails.confirmAddress(owner.email, buildConfirmationLink(ctx, token));
  await queueMail(ctx, { to: address, userId: owner.id, ...mail });
}

/** Returns the address that a link would confirm; null if it cannot be used. */
export async function findUnconfirmedAddress(ctx: Context, hash: string): Promise<string | null> {
  const [found] = await ctx.db
    .select({ email })
    .from(notificationAddresses)
    .innerJoin(users, and(eq(users.id, userId), users.isActive))
    .where(and(eq(tokenHash, hash), gt(expiresAt, ctx.now())));
  return found?.email ?? null;
}

/**
 * Switches on the inactive channels of the address, too. Returns false for a link that cannot be used, also one of an
 * inactive account.
 */
export function confirmNotificationAddress(ctx: Context, hash: string): Promise<boolean> {
  return inTransaction(ctx, async (tx) => {
    const owner = tx.db
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.id, userId), users.isActive));
    const [confirmed] = await tx.db
      .update(notificationAddresses)
      .set({ tokenHash: null, expiresAt: null, confirmedAt: tx.now() })
      .where(and(eq(tokenHash, hash), gt(expiresAt, tx.now()), exists(owner)))
      .returning({ userId, email });
    if (!confirmed) return false;
    // A later statement than the lock of the address: it sees the channels whose creation held that lock.
    const isMailbox = and(
      eq(endpoints.kind, 'email'),
      sql`${endpoints.shownSettings} ->> 'address' = ${confirmed.email}`,
    );
    const isWaiting = and(eq(endpoints.userId, confirmed.userId), eq(endpoints.status, 'inactive'), isMailbox);
    await tx.db.update(endpoints).set({ status: 'active', updatedAt: tx.now() }).where(isWaiting);
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return true;
  });
}

/** Whether mail may be sent to an address, which does not change before the transaction of the caller ends. */
export async function lockConfirmation({ db }: Context, owner: number, address: string): Promise<boolean> {
  await db
    .select({ email })
    .from(notificationAddresses)
    .where(and(eq(userId, owner), eq(email, address)))
    .for('update');
  const [row] = await queryRows<{ isConfirmed: boolean }>(
    db,
    sql`select ${isConfirmedSql(sql`${owner}::int`, sql`${address}::text`)} as is_confirmed`,
  );
  return row?.isConfirmed ?? false;
}

/** The addresses that the settings or a task name and that get no mail yet. */
export const selectUnconfirmed = (owner: AnyColumn): SQL<string[]> => sql`array(
  select ${email} from ${notificationAddresses}
  where ${userId} = ${owner} and ${confirmedAt} is null and ${isNamed} and not ${isVerifiedOwn} order by ${email})`;

/** Which of the addresses have confirmed that they want mail of which user. */
export async function findConfirmed(ctx: Context, userIds: readonly number[], addresses: readonly string[]) {
  if (addresses.length === 0) return () => false;
  const rows = await ctx.db
    .select({ userId, email })
    .from(notificationAddresses)
    .where(and(inArray(userId, [...userIds]), inArray(email, [...addresses]), isNotNull(confirmedAt)));
  const confirmed = new Set(rows.map((row) => `${row.userId} ${row.email}`));
  return (owner: number, address: string) => confirmed.has(`${owner} ${address}`);
}
