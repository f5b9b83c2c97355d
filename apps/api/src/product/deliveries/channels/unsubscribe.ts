import { endpoints, notificationAddresses, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, ne, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { hashLinkToken } from '../../../lib/crypto/tokens.ts';
import { inTransaction } from '../../../transaction.ts';
import { notifyUsers } from '../../notifications/write.ts';

/**
 * Switches a channel off by the link in its mails, and notifies its account. An address that the account has not verified
 * as its own gets none of its mail any more, until it opens a new link. Does nothing for a link that was never sent.
 */
export function unsubscribe(ctx: Context, token: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const [found] = await tx.db
      .select({
        id: endpoints.id,
        userId: endpoints.userId,
        language: users.language,
        name: endpoints.name,
        address: addressOf,
        isOwn,
      })
      .from(endpoints)
      .innerJoin(users, eq(users.id, endpoints.userId))
      .where(eq(endpoints.unsubscribeHash, hashLinkToken(token)));
    if (!found) return;
    const { userId, language, name, address } = found;
    const channels = found.isOwn
      ? eq(endpoints.id, found.id)
      : and(eq(endpoints.userId, userId), eq(addressOf, address));
    const { count } = await tx.db
      .update(endpoints)
      .set({ status: 'inactive', updatedAt: tx.now() })
      .where(and(channels, eq(endpoints.kind, 'email'), ne(endpoints.status, 'inactive')));
    const hasForgotten = !found.isOwn && (await forgetConfirmation(tx, userId, address));
    if (count === 0 && !hasForgotten) return;
    const { notices } = getTexts(language);
    const title = notices.unsubscribed(name ?? '');
    const message = notices.unsubscribedText(address, found.isOwn);
    await notifyUsers(tx, [{ userId, kind: 'channel.unsubscribed', title, message, path: `/channels/${found.id}` }]);
  });
}

const addressOf = sql<string>`${endpoints.shownSettings} ->> 'address'`;
const isOwn = sql<boolean>`${users.email} = ${addressOf} and ${users.emailVerifiedAt} is not null`;

async function forgetConfirmation(ctx: Context, userId: number, address: string): Promise<boolean> {
  const { userId: owner, email, confirmedAt } = notificationAddresses;
  const forgotten = await ctx.db
    .delete(notificationAddresses)
    .where(and(eq(owner, userId), eq(email, address)))
    .returning({ confirmedAt });
  return forgotten.some((row) => row.confirmedAt !== null);
}
