import { webhooks } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { invalidField } from '../errors.ts';

/** Returns the ids without duplicates. Throws 400 that names the place of an id that is no channel of the caller. */
export async function checkChannels(ctx: Context, caller: Caller, given: readonly string[]): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return [];
  // Locked, so that the channel is not deleted before the caller's transaction ends.
  const found = await ctx.db
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(and(inArray(webhooks.id, ids), eq(webhooks.userId, caller.id), eq(webhooks.purpose, 'channel')))
    .for('key share');
  const known = new Set(found.map(({ id }) => id));
  const at = given.findIndex((id) => !known.has(id.toLowerCase()));
  if (at >= 0) throw invalidField(`channels.${at}`, 'is not one of your channels');
  return ids;
}
