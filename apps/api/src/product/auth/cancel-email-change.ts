import { emailChanges } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../context.ts';

/** Makes the link of a change that is not confirmed yet invalid. */
export async function cancelEmailChange(ctx: Context, userId: number): Promise<void> {
  await ctx.db.delete(emailChanges).where(eq(emailChanges.userId, userId));
}
