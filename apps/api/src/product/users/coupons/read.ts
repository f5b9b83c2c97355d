import type { ListCouponsQuery, ListCouponUsesQuery } from '@carillon/contract/admin/coupons';
import { couponRedemptions, coupons, users } from '@carillon/db';
import { desc, eq, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';

export const couponFields = {
  id: coupons.id,
  code: coupons.code,
  type: coupons.type,
  value: coupons.value,
  isActive: coupons.isActive,
  maxUses: coupons.maxUses,
  usedCount: coupons.usedCount,
  expiresAt: coupons.expiresAt,
  createdByEmail: coupons.createdByEmail,
  createdAt: coupons.createdAt,
  updatedAt: coupons.updatedAt,
};

export const couponNotFound = () => new AppError('not_found', 'Coupon not found');

/** Throws 404. */
export async function getCoupon(ctx: Context, id: number) {
  const [coupon] = await ctx.db.select(couponFields).from(coupons).where(eq(coupons.id, id));
  if (!coupon) throw couponNotFound();
  return coupon;
}

export type CouponRow = Awaited<ReturnType<typeof getCoupon>>;

export async function listCoupons(ctx: Context, { limit, offset }: ListCouponsQuery) {
  const [page, [counts]] = await Promise.all([
    ctx.db.select(couponFields).from(coupons).orderBy(desc(coupons.id)).limit(limit).offset(offset),
    ctx.db
      .select({
        totalCoupons: sql<number>`count(*)::int`,
        activeCoupons: sql<number>`count(*) filter (where ${coupons.isActive})::int`,
        totalUses: sql<number>`coalesce(sum(${coupons.usedCount}), 0)::float8`,
      })
      .from(coupons),
  ]);
  const stats = counts ?? { totalCoupons: 0, activeCoupons: 0, totalUses: 0 };
  return { coupons: page, stats, pagination: { limit, offset, total: stats.totalCoupons } };
}

/** Lists uses of existing accounts; the summary also counts deleted ones. Throws 404. */
export async function listCouponUses(ctx: Context, id: number, { limit, offset }: ListCouponUsesQuery) {
  const { usedCount, maxUses } = await getCoupon(ctx, id);
  const usage = await findUses(ctx, id, { limit, offset });
  const remainingUses = maxUses === null ? null : Math.max(0, maxUses - usedCount);
  return { usage, summary: { totalUses: usedCount, maxUses, remainingUses } };
}

/** A coupon with uses of existing accounts. Throws 404. */
export async function getCouponWithUses(ctx: Context, id: number, query: ListCouponUsesQuery) {
  const [coupon, usage] = await Promise.all([getCoupon(ctx, id), findUses(ctx, id, query)]);
  return { coupon, usage };
}

const findUses = ({ db }: Context, id: number, { limit, offset }: ListCouponUsesQuery) =>
  db
    .select({
      userId: users.id,
      userEmail: users.email,
      userName: users.name,
      usedAt: couponRedemptions.redeemedAt,
    })
    .from(couponRedemptions)
    .innerJoin(users, eq(users.id, couponRedemptions.userId))
    .where(eq(couponRedemptions.couponId, id))
    .orderBy(desc(couponRedemptions.redeemedAt), desc(users.id))
    .limit(limit)
    .offset(offset);
