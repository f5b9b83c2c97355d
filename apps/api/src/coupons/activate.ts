import { couponRedemptions, coupons, users } from '@carillon/db';
import { and, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, accountDeleted } from '../errors.ts';

/** Beyond this an instant is no date-time of the interface any more. */
const LAST_INSTANT = '9999-12-31T23:59:59.999Z';

/**
 * Extends the caller's trial by a coupon, from the later of now and its end (specification "Coupons (user)"). Refusals,
 * in this order: 404 for a coupon that is missing or inactive, 400 where it has expired, was used by the caller before,
 * or is at its limit.
 *
 * The conditional update takes a use, and the primary key of the redemptions lets a user have one: neither looks first
 * and writes then, so that no number of calls at once gets more out of a coupon than it holds (security, trap 6).
 */
export function activateCoupon(ctx: Context, caller: Caller, code: string) {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const [coupon] = await tx.db
      .update(coupons)
      .set({ usedCount: sql`${coupons.usedCount} + 1` })
      .where(
        and(
          hasCode(code),
          eq(coupons.isActive, true),
          or(isNull(coupons.expiresAt), gt(coupons.expiresAt, now)),
          or(isNull(coupons.maxUses), lt(coupons.usedCount, coupons.maxUses)),
        ),
      )
      .returning({ id: coupons.id, code: coupons.code, type: coupons.type, value: coupons.value });
    if (!coupon) throw await findReason(tx, caller, code, now);

    const redeemed = await tx.db
      .insert(couponRedemptions)
      .values({ couponId: coupon.id, userId: caller.id, redeemedAt: now })
      .onConflictDoNothing()
      .returning({ userId: couponRedemptions.userId });
    if (redeemed.length === 0) throw usedBefore();

    const { id: couponId, ...shown } = coupon;
    const trialEndsAt = await extendTrial(tx, caller, coupon.value, now);
    await recordAudit(tx, {
      kind: 'coupon.activated',
      actorId: caller.id,
      actorEmail: caller.email,
      userId: caller.id,
      details: { couponId, ...shown, trialEndsAt },
    });
    return { coupon: { ...shown, appliedAt: now }, user: { trialEndsAt } };
  });
}

const hasCode = (code: string): SQL => sql`upper(${coupons.code}) = upper(${code.trim()})`;

async function extendTrial(ctx: Context, caller: Caller, days: number, now: Date): Promise<Date> {
  // Days of 24 hours: those of the session's time zone are longer or shorter twice a year.
  const [user] = await ctx.db
    .update(users)
    .set({
      trialEndsAt: sql`least(greatest(coalesce(${users.trialEndsAt}, ${now.toISOString()}), ${now.toISOString()})
        + make_interval(hours => 24 * ${days}::int), ${LAST_INSTANT}::timestamptz)`,
      updatedAt: now,
    })
    .where(eq(users.id, caller.id))
    .returning({ trialEndsAt: users.trialEndsAt });
  if (!user?.trialEndsAt) throw accountDeleted();
  return user.trialEndsAt;
}

/** Why no use could be taken. */
async function findReason(ctx: Context, caller: Caller, code: string, now: Date): Promise<AppError> {
  const [coupon] = await ctx.db
    .select({
      isActive: coupons.isActive,
      expiresAt: coupons.expiresAt,
      usedByCaller: sql<boolean>`exists (select from ${couponRedemptions}
        where ${couponRedemptions.couponId} = ${coupons.id} and ${couponRedemptions.userId} = ${caller.id})`,
    })
    .from(coupons)
    .where(hasCode(code));
  if (!coupon?.isActive) return new AppError('not_found', 'Cupom não encontrado ou inativo');
  if (coupon.expiresAt && coupon.expiresAt <= now) return new AppError('bad_request', 'Cupom expirado');
  if (coupon.usedByCaller) return usedBefore();
  return new AppError('bad_request', 'Cupom atingiu o limite de usos');
}

const usedBefore = () => new AppError('bad_request', 'Cupom já utilizado');
