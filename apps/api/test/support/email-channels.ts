import { randomUUID } from 'node:crypto';
import { endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { generateLinkToken, hashLinkToken } from '../../src/lib/crypto/tokens.ts';
import { email } from '../../src/product/deliveries/messages/kinds/email.ts';
import { encryptUnindexedSecret } from '../../src/product/deliveries/queue/secret.ts';
import { confirmAddresses } from './mails.ts';

export interface EmailChannel {
  id: string;
  /** The last part of the link that ends its mails. */
  unsubscribeToken: string;
  settings: string;
}

/** Inserts an active channel. Its address is confirmed unless that is the test. */
export async function insertEmailChannel(
  ctx: Context,
  userId: number,
  address: string,
  { isConfirmed = true, name = 'Team mailbox' } = {},
): Promise<EmailChannel> {
  const id = randomUUID();
  const unsubscribeToken = generateLinkToken();
  const settings = JSON.stringify({ address, unsubscribeToken });
  const { shown, url } = email.show({ address });
  const now = ctx.now();
  await ctx.db.insert(endpoints).values({
    id,
    userId,
    name,
    url,
    purpose: 'channel',
    kind: 'email',
    shownSettings: shown,
    unsubscribeHash: hashLinkToken(unsubscribeToken),
    events: ['execution.completed', 'execution.failed'],
    createdAt: now,
    updatedAt: now,
    ...encryptUnindexedSecret(ctx, id, settings),
  });
  if (isConfirmed) await confirmAddresses(ctx, userId, [address]);
  return { id, settings, unsubscribeToken };
}

export async function readStatus(ctx: Context, { id }: Pick<EmailChannel, 'id'>): Promise<string | undefined> {
  const [row] = await ctx.db.select({ status: endpoints.status }).from(endpoints).where(eq(endpoints.id, id));
  return row?.status;
}
