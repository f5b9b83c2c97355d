import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { open, seal } from '../secrets.ts';

/** Seals a user's own AI key for its column (decisions §7). */
export const sealProviderKey = (ctx: Context, userId: number, key: string) =>
  seal(ctx.config.sealingKeys, key, placeOf(userId));

/** The user's own AI key, or null where there is none. */
export async function findProviderKey(ctx: Context, userId: number): Promise<string | null> {
  const [user] = await ctx.db.select({ sealed: users.providerKeySealed }).from(users).where(eq(users.id, userId));
  return user?.sealed ? open(ctx.config.sealingKeys, user.sealed, placeOf(userId)) : null;
}

const placeOf = (userId: number) => `users.provider_key_sealed:${userId}`;
