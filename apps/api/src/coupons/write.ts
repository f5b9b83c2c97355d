import type { ChangeCouponInput, CreateCouponInput } from '@carillon/contract/coupons';
import { coupons } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, invalidField } from '../errors.ts';
import { getSettings } from '../settings/read.ts';
import { newCode } from './code.ts';
import { type CouponRow, couponFields, refuseCoupon } from './read.ts';

/**
 * Makes a coupon and records which admin did (specification "Admin"). The code is one that nobody guesses unless it is
 * given: then it is kept in upper case, and how often it can be guessed at is bounded by the limit on activations.
 * `value` is the trial duration of the settings unless it is given; where that is 0, it has to be (400). Refusal: 409
 * where another coupon has the code, in any letter case.
 */
export function createCoupon(ctx: Context, admin: Caller, input: CreateCouponInput) {
  return inTransaction(ctx, async (tx) => {
    const value = input.value ?? (await getSettings(tx)).trialDurationDays;
    if (value < 1) throw invalidField('value', 'is required while trials have no duration');
    const now = tx.now();
    const [coupon] = await tx.db
      .insert(coupons)
      .values({
        code: input.code?.toUpperCase() ?? newCode(),
        type: input.type,
        value,
        maxUses: input.maxUses ?? null,
        expiresAt: readExpiry(input.expiresAt) ?? null,
        createdByEmail: admin.email,
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoNothing()
      .returning(couponFields);
    if (!coupon) throw new AppError('conflict', 'There is a coupon with this code already.');
    await recordChange(tx, admin, 'coupon.created', { before: null, after: coupon });
    return coupon;
  });
}

/**
 * Switches a coupon on or off, or changes its limits, and records both states. A change that leaves everything as it
 * was is none: it is neither dated nor recorded. Refusal: 404.
 */
export function changeCoupon(ctx: Context, admin: Caller, id: number, input: ChangeCouponInput) {
  return inTransaction(ctx, async (tx) => {
    const before = await lockCoupon(tx, id);
    const expiresAt = readExpiry(input.expiresAt);
    const wanted = {
      isActive: input.isActive ?? before.isActive,
      maxUses: input.maxUses === undefined ? before.maxUses : input.maxUses,
      expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
    };
    if (JSON.stringify({ ...before, ...wanted }) === JSON.stringify(before)) return before;
    const [after] = await tx.db
      .update(coupons)
      .set({ ...wanted, updatedAt: tx.now() })
      .where(eq(coupons.id, id))
      .returning(couponFields);
    if (!after) return refuseCoupon();
    await recordChange(tx, admin, 'coupon.changed', { before, after });
    return after;
  });
}

/** Deletes a coupon with the record of who has used it; the trials that it extended stay so. Refusal: 404. */
export function deleteCoupon(ctx: Context, admin: Caller, id: number): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const before = await lockCoupon(tx, id);
    await tx.db.delete(coupons).where(eq(coupons.id, id));
    await recordChange(tx, admin, 'coupon.deleted', { before, after: null });
  });
}

async function lockCoupon(ctx: Context, id: number): Promise<CouponRow> {
  const [coupon] = await ctx.db.select(couponFields).from(coupons).where(eq(coupons.id, id)).for('update');
  return coupon ?? refuseCoupon();
}

const recordChange = (
  ctx: Context,
  admin: Caller,
  kind: 'coupon.created' | 'coupon.changed' | 'coupon.deleted',
  { before, after }: { before: CouponRow | null; after: CouponRow | null },
) => {
  const details = {
    couponId: (before ?? after)?.id,
    before: before && shownOf(before),
    after: after && shownOf(after),
  };
  return recordAudit(ctx, { kind, actorId: admin.id, actorEmail: admin.email, userId: null, details });
};

/** What an admin decides about a coupon; the rest of it never changes, or is not theirs. */
const shownOf = ({ code, value, isActive, maxUses, expiresAt }: CouponRow) => ({
  code,
  value,
  isActive,
  maxUses,
  expiresAt,
});

const readExpiry = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : text);
