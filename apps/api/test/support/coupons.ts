import { coupons } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import { generateCode } from '../../src/product/users/coupons/write.ts';

/** Inserts a coupon of 10 days, in any state. */
export async function insertCoupon(ctx: Context, values: Partial<typeof coupons.$inferInsert> = {}) {
  const at = { createdAt: ctx.now(), updatedAt: ctx.now() };
  const [coupon] = await ctx.db
    .insert(coupons)
    .values({ code: generateCode(), value: 10, createdByEmail: 'ada@example.com', ...at, ...values })
    .returning();
  return coupon as NonNullable<typeof coupon>;
}
