import { randomBytes } from 'node:crypto';
import type { ChangeCouponInput, CreateCouponInput } from '@carillon/contract/admin/coupons';
import { coupons } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { getSettings } from '../../../platform/settings.ts';
import { inTransaction } from '../../../transaction.ts';
import { type CouponRow, couponFields, couponNotFound } from './read.ts';

/**
 * `value` defaults to the trial duration of the settings. Throws 400 if that is 0, 409 for a code in use in any case.
 */
export function createCoupon(ctx: Context, admin: Caller, input: CreateCouponInput) {
  return inTransaction(ctx, async (tx) => {
    const value = input.value ?? (await getSettings(tx)).trialDurationDays;
    if (value < 1) throw invalidField('value', 'is required while trials have no duration');
    const now = tx.now();
    const [coupon] = await tx.db
      .insert(coupons)
      .values({
        code: input.code?.toUpperCase() ?? generateCode(),
        type: input.type,
        value,
        maxUses: input.maxUses ?? null,
        expiresAt: parseExpiry(input.expiresAt) ?? null,
        createdByEmail: admin.email,
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoNothing()
      .returning(couponFields);
    if (!coupon) throw new AppError('conflict', 'A coupon with this code already exists.');
    await recordChange(tx, admin, 'coupon.created', null, coupon);
    return coupon;
  });
}

/** Crockford's base 32: no letter that looks like a digit, and no U, so that no words appear. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** 80 bits, such as `7K2M-QX4T-9ZB1-HN5C`. */
export function generateCode(): string {
  const group = () => Array.from(randomBytes(GROUP_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** Throws 404. */
export function changeCoupon(ctx: Context, admin: Caller, id: number, input: ChangeCouponInput) {
  return inTransaction(ctx, async (tx) => {
    const before = await lockCoupon(tx, id);
    const expiresAt = parseExpiry(input.expiresAt);
    const changes = {
      isActive: input.isActive ?? before.isActive,
      maxUses: input.maxUses === undefined ? before.maxUses : input.maxUses,
      expiresAt: expiresAt === undefined ? before.expiresAt : expiresAt,
    };
    if (JSON.stringify({ ...before, ...changes }) === JSON.stringify(before)) return before;
    const after: CouponRow = { ...before, ...changes, updatedAt: tx.now() };
    await tx.db
      .update(coupons)
      .set({ ...changes, updatedAt: after.updatedAt })
      .where(eq(coupons.id, id));
    await recordChange(tx, admin, 'coupon.changed', before, after);
    return after;
  });
}

/** Extended trials stay extended. Throws 404. */
export function deleteCoupon(ctx: Context, admin: Caller, id: number): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const before = await lockCoupon(tx, id);
    await tx.db.delete(coupons).where(eq(coupons.id, id));
    await recordChange(tx, admin, 'coupon.deleted', before, null);
  });
}

async function lockCoupon(ctx: Context, id: number): Promise<CouponRow> {
  const [coupon] = await ctx.db.select(couponFields).from(coupons).where(eq(coupons.id, id)).for('update');
  if (!coupon) throw couponNotFound();
  return coupon;
}

async function recordChange(
  ctx: Context,
  admin: Caller,
  kind: 'coupon.created' | 'coupon.changed' | 'coupon.deleted',
  before: CouponRow | null,
  after: CouponRow | null,
): Promise<void> {
  const details = {
    couponId: (before ?? after)?.id,
    before: before && toAuditDetails(before),
    after: after && toAuditDetails(after),
  };
  await recordAudit(ctx, { kind, ...describeActor(admin, null), details });
}

const toAuditDetails = ({ code, value, isActive, maxUses, expiresAt }: CouponRow) => ({
  code,
  value,
  isActive,
  maxUses,
  expiresAt,
});

const parseExpiry = (text: string | null | undefined) => (typeof text === 'string' ? new Date(text) : text);
