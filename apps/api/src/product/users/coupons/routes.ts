import * as contract from '@carillon/contract/admin/coupons';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { activateCoupon } from './activate.ts';
import { getCoupon, listCoupons, listCouponUses } from './read.ts';
import { changeCoupon, createCoupon, deleteCoupon } from './write.ts';

export const couponsRoutes: Routes = async (app) => {
  const config = { access: 'admin', scope: 'admin' } as const;

  app.post(
    '/api/coupons/activate',
    { schema: contract.activateCoupon, config: { access: 'user' } },
    async ({ ctx, caller, body }) => ({
      success,
      message: 'The coupon is applied: your trial is longer.',
      ...(await activateCoupon(ctx, caller, body.code)),
    }),
  );

  app.get('/api/admin/coupons', { schema: contract.listCoupons, config }, async ({ ctx, query }) => ({
    success,
    data: await listCoupons(ctx, query),
  }));

  app.post('/api/admin/coupons', { schema: contract.createCoupon, config }, async ({ ctx, caller, body }, reply) => {
    const data = await createCoupon(ctx, caller, body ?? {});
    const message = 'The coupon is created.';
    reply.code(201).header('location', `/api/admin/coupons/${data.id}`);
    return { success, data, message };
  });

  app.get('/api/admin/coupons/:id', { schema: contract.getCoupon, config }, async ({ ctx, params }) => ({
    success,
    coupon: await getCoupon(ctx, params.id),
  }));

  app.patch(
    '/api/admin/coupons/:id',
    { schema: contract.changeCoupon, config },
    async ({ ctx, caller, params, body }) => {
      const { id, isActive, maxUses, expiresAt, updatedAt } = await changeCoupon(ctx, caller, params.id, body);
      const changed = { id, isActive, maxUses, updatedAt };
      return { success, coupon: body.expiresAt === undefined ? changed : { ...changed, expiresAt } };
    },
  );

  app.delete('/api/admin/coupons/:id', { schema: contract.deleteCoupon, config }, async ({ ctx, caller, params }) => {
    await deleteCoupon(ctx, caller, params.id);
    return { success, message: 'The coupon is deleted.' };
  });

  app.get(
    '/api/admin/coupons/:id/usage',
    { schema: contract.listCouponUses, config },
    async ({ ctx, params, query }) => ({
      success,
      ...(await listCouponUses(ctx, params.id, query)),
    }),
  );
};
