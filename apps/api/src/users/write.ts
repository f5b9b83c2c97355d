import { users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { sealProviderKey } from './provider-key.ts';

export interface ProfileChanges {
  name?: string;
  timezone?: string | null;
  /** The user's own AI key in the clear; null removes it. */
  encryptedProviderKey?: string | null;
}

/** Changes what is given of the caller's own profile (specification "Current user"); the AI key is sealed at rest. */
export async function changeProfile(ctx: Context, caller: Caller, input: ProfileChanges) {
  const { name, timezone, encryptedProviderKey: key } = input;
  const [user] = await ctx.db
    .update(users)
    .set({
      name,
      timezone,
      providerKeySealed: key ? sealProviderKey(ctx, caller.id, key) : key,
      updatedAt: Object.keys(input).length > 0 ? ctx.now() : sql`${users.updatedAt}`,
    })
    .where(eq(users.id, caller.id))
    .returning({ id: users.id, name: users.name, timezone: users.timezone, updatedAt: users.updatedAt });
  // The account was deleted since its session was found.
  if (!user) throw new Refusal('unauthenticated', 'This account is gone.');
  return user;
}
