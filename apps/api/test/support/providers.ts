import { providers } from '@carillon/db';
import type { Context } from '../../src/context.ts';

type NewProvider = Omit<typeof providers.$inferInsert, 'createdAt' | 'updatedAt'>;

/** Stores providers of the settings, and lets this process see them at once. */
export async function insertProviders(ctx: Context, ...values: NewProvider[]): Promise<void> {
  const at = ctx.now();
  await ctx.db.insert(providers).values(values.map((value) => ({ ...value, createdAt: at, updatedAt: at })));
  ctx.providers.forget();
}
