import { couponRedemptions, coupons, users } from '@carillon/db';
import { and, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, accountDeleted } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';

/** The contract's date-times have years of four digits. */
const MAX_INSTANT = '9999-12-31T23:59:59.999Z';

/**
 * Throws 404 for a missing or inactive coupon, 400 if it is expired, exhausted or used by the caller. Safe under
 * concurrency: a conditional update takes a use, and the primary key of redemptions allows one per user.
 */
export function activateCoupon(ctx: Context, caller: Caller, code: string) {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const [coupon] = await tx.db
      .update(coupons)
      .set({ usedCount: sql`${coupons.usedCount} + 1` })
      .where(
        and(
          matchesCode(code),
          eq(coupons.isActive, true),
          or(isNull(coupons.expiresAt), gt(coupons.expiresAt, now)),
          or(isNull(coupons.maxUses), lt(coupons.usedCount, coupons.maxUses)),
        ),
      )
      .returning({ id: coupons.id, code: coupons.code, type: coupons.type, value: coupons.value });
    if (!coupon) throw await explainRejection(tx, caller, code, now);

    const redeemed = await tx.db
      .insert(couponRedemptions)
      .values({ couponId: coupon.id, userId: caller.id, redeemedAt: now })
      .onConflictDoNothing()
      .returning({ userId: couponRedemptions.userId });
    if (redeemed.length === 0) throw alreadyUsed();

    const { id: couponId, ...details } = coupon;
    const trialEndsAt = await extendTrial(tx, caller, coupon.value, now);
    await recordAudit(tx, {
      kind: 'coupon.activated',
      ...describeActor(caller),
      details: { couponId, ...details, trialEndsAt },
    });
    return { coupon: { ...details, appliedAt: now }, user: { trialEndsAt } };
  });
}

const matchesCode = (code: string): SQL => sql`upper(${coupons.code}) = upper(${code.trim()})`;

async function extendTrial(ctx: Context, caller: Caller, days: number, now: Date): Promise<Date> {
  // In hours: a day of the database's time zone may have 23 or 25.
  const [user] = await ctx.db
    .update(users)
    .set({
      trialEndsAt: sql`least(greatest(coalesce(${users.trialEndsAt}, ${now.toISOString()}), ${now.toISOString()})
        + make_interval(hours => 24 * ${days}::int), ${MAX_INSTANT}::timestamptz)`,
      updatedAt: now,
    })
    .where(eq(users.id, caller.id))
    .returning({ trialEndsAt: users.trialEndsAt });
  if (!user?.trialEndsAt) throw accountDeleted();
  return user.trialEndsAt;
}

async function explainRejection(ctx: Context, caller: Caller, code: string, now: Date): Promise<AppError> {
  const [coupon] = await ctx.db
    .select({
      isActive: coupons.isActive,
      expiresAt: coupons.expiresAt,
      usedByCaller: sql<boolean>`exists (select from ${couponRedemptions}
        where ${couponRedemptions.couponId} = ${coupons.id} and ${couponRedemptions.userId} = ${caller.id})`,
    })
    .from(coupons)
    .where(matchesCode(code));
  if (!coupon?.isActive) return new AppError('not_found', 'Cupom não encontrado ou inativo');
  if (coupon.expiresAt && coupon.expiresAt <= now) return new AppError('coupon_expired', 'Cupom expirado');
  if (coupon.usedByCaller) return alreadyUsed();
  return new AppError('coupon_used_up', 'Cupom atingiu o limite de usos');
}

const alreadyUsed = () => new AppError('coupon_already_used', 'Cupom já utilizado');
