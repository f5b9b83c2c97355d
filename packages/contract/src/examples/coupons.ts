import type * as coupons from '../admin/coupons.ts';
import type { ExamplesFor } from './example.ts';
import { alice, CREATED, NOW, success } from './fixtures.ts';

const CODE = '7K2M-QX4T-9ZB1-HN5C';
const fresh = {
  id: 3,
  code: CODE,
  type: 'TRIAL_EXTENSION',
  value: 14,
  isActive: true,
  maxUses: 100,
  usedCount: 0,
  expiresAt: '2026-12-31T23:59:59.000Z',
  createdByEmail: 'ada@example.com',
  createdAt: CREATED,
};
const coupon = { ...fresh, usedCount: 1, updatedAt: CREATED };
const NOT_FOUND = { 404: 'Coupon not found' };
const params = { id: coupon.id };

export const couponsExamples: ExamplesFor<typeof coupons> = {
  activateCoupon: {
    body: { code: CODE },
    response: {
      200: {
        success,
        message: 'The coupon is applied: your trial is longer.',
        coupon: { code: CODE, type: fresh.type, value: fresh.value, appliedAt: NOW },
        user: { trialEndsAt: '2026-12-17T15:58:40.512Z' },
      },
    },
    errors: {
      400: { success: false, error: 'Cupom expirado' },
      404: 'Cupom não encontrado ou inativo',
    },
  },
  listCoupons: {
    query: { limit: 50, offset: 0 },
    response: {
      200: {
        success,
        data: {
          coupons: [coupon],
          stats: { totalCoupons: 1, activeCoupons: 1, totalUses: 1 },
          pagination: { limit: 50, offset: 0, total: 1 },
        },
      },
    },
  },
  createCoupon: {
    body: { maxUses: 100, expiresAt: '2026-12-31T23:59:59Z', value: 14 },
    response: { 201: { success, data: fresh, message: 'The coupon is created.' } },
    errors: { 409: 'A coupon with this code already exists.' },
  },
  getCoupon: { params, response: { 200: { success, coupon } }, errors: NOT_FOUND },
  changeCoupon: {
    params,
    body: { isActive: false },
    response: { 200: { success, coupon: { id: coupon.id, isActive: false, maxUses: coupon.maxUses, updatedAt: NOW } } },
    errors: NOT_FOUND,
  },
  deleteCoupon: {
    params,
    response: { 200: { success, message: 'The coupon is deleted.' } },
    errors: NOT_FOUND,
  },
  listCouponUses: {
    params,
    query: { limit: 1000, offset: 0 },
    response: {
      200: {
        success,
        usage: [{ userId: alice.id, userEmail: alice.email, userName: alice.name, usedAt: NOW }],
        summary: { totalUses: 1, maxUses: 100, remainingUses: 99 },
      },
    },
    errors: NOT_FOUND,
  },
};
