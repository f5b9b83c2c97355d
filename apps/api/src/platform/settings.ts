import { settings } from '@carillon/db';
import type { Context } from '../context.ts';

export async function getSettings(ctx: Context) {
  const [row] = await ctx.db.select().from(settings);
  if (!row) throw new Error('The settings row is missing: the migration writes it.');
  return row;
}
