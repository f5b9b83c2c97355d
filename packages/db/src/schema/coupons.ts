import { sql } from 'drizzle-orm';
import { boolean, check, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/** `value` is in days of trial. */
export const coupons = pgTable(
  'coupons',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    code: text().notNull(),
    type: text().notNull().default('TRIAL_EXTENSION'),
    value: integer().notNull(),
    isActive: boolean('is_active').notNull().default(true),
    maxUses: integer('max_uses'),
    usedCount: integer('used_count').notNull().default(0),
    expiresAt: instant('expires_at'),
    createdByEmail: text('created_by_email').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (t) => [uniqueIndex('coupons_code_key').on(sql`upper(${t.code})`), check('coupons_used', sql`${t.usedCount} >= 0`)],
);

/** The primary key limits a coupon to one use per user. */
export const couponRedemptions = pgTable(
  'coupon_redemptions',
  {
    couponId: integer('coupon_id')
      .notNull()
      .references(() => coupons.id, { onDelete: 'cascade' }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    redeemedAt: instant('redeemed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.couponId, t.userId] })],
);
