import { endpoints } from '@carillon/db';
import { and, eq, inArray, not } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { unknownChannel } from './check-channels.ts';
import { isChannel } from './read.ts';

/**
 * Returns the ids without duplicates, and locks all channels of the caller for `setAccountChannels`. Throws 400 that names the
 * place of an id that is no channel of the caller.
 */
export async function lockAccountChannels(ctx: Context, caller: Caller, given: readonly string[]): Promise<string[]> {
  const mine = await ctx.db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(eq(endpoints.userId, caller.id), isChannel))
    .orderBy(endpoints.id)
    .for('no key update');
  const known = new Set(mine.map(({ id }) => id));
  const at = given.findIndex((id) => !known.has(id.toLowerCase()));
  if (at >= 0) throw unknownChannel(at);
  return [...new Set(given.map((id) => id.toLowerCase()))];
}

/** Has exactly these channels get the notifications of the account. */
export async function setAccountChannels(ctx: Context, caller: Caller, ids: readonly string[]): Promise<void> {
  const mine = and(eq(endpoints.userId, caller.id), isChannel);
  const isNamed = inArray(endpoints.id, [...ids]);
  const set = (isForAccount: boolean) => ({ isForAccount, updatedAt: ctx.now() });
  await ctx.db
    .update(endpoints)
    .set(set(false))
    .where(and(mine, eq(endpoints.isForAccount, true), not(isNamed)));
  await ctx.db
    .update(endpoints)
    .set(set(true))
    .where(and(mine, eq(endpoints.isForAccount, false), isNamed));
}
