import { endpoints } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { invalidItem } from '../../../errors.ts';
import { isChannel } from './read.ts';

/** Returns the ids without duplicates. Throws 400 that names the place of an id that is no channel of the caller. */
export async function checkChannels(ctx: Context, caller: Caller, given: readonly string[]): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const known = await lockChannels(ctx, caller, ids);
  const at = given.findIndex((id) => !known.includes(id.toLowerCase()));
  if (at >= 0) throw unknownChannel(at);
  return ids;
}

export const unknownChannel = (at: number) => invalidItem('channels', at, 'is not one of your channels');

/** Returns those of the ids that are channels of the caller, locked against deletion until the transaction ends. */
export async function lockChannels(ctx: Context, caller: Caller, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const found = await ctx.db
    .select({ id: endpoints.id })
    .from(endpoints)
    .where(and(inArray(endpoints.id, [...ids]), eq(endpoints.userId, caller.id), isChannel))
    .orderBy(endpoints.id)
    .for('key share');
  const known = new Set(found.map(({ id }) => id));
  return ids.filter((id) => known.has(id));
}
