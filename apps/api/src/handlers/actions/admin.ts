import { Role } from '@carillon/contract/accounts/auth';
import { ACTION_INPUTS } from '@carillon/contract/actions/index';
import { getSystemStats } from '../../product/system/stats/system.ts';
import { listUsers } from '../../product/users/admin/read.ts';
import { changeAccount } from '../../product/users/admin/write.ts';
import { createCoupon } from '../../product/users/coupons/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readId, readInput, readOptionalInput } from './input.ts';
import { toIsoText } from './mappings.ts';

export const adminActions = ({ admin }: ActionBuilder) => ({
  getSystemStats: admin('getSystemStats', [], async ({ ctx }) => getSystemStats(ctx)),

  listUsers: admin('listUsers', [readOptionalInput(ACTION_INPUTS.listUsers)], async ({ ctx }, input) => {
    const { page = 1, limit = 50, search, role } = input;
    const { users, pagination } = await listUsers(ctx, { limit, offset: (page - 1) * limit, search, role });
    return {
      users: users.map(({ id, identityUserId, email, name, role, isActive, trialEndsAt, createdAt, stats }) => ({
        id: String(id),
        identityUserId,
        email,
        name,
        role,
        isActive,
        stats,
        trialEndsAt: toIsoText(trialEndsAt),
        createdAt: createdAt.toISOString(),
      })),
      total: pagination.total,
      page,
      pages: pagination.pages,
    };
  }),

  updateUserRole: admin('updateUserRole', [readId, readInput(Role, 'role')], async ({ ctx, caller }, id, role) => {
    const changed = await changeAccount(ctx, caller, id, { role });
    const { isActive, trialEndsAt, updatedAt } = changed;
    return {
      id: String(id),
      role: changed.role,
      isActive,
      trialEndsAt: toIsoText(trialEndsAt),
      updatedAt: updatedAt.toISOString(),
    };
  }),

  createCoupon: admin('createCoupon', [readInput(ACTION_INPUTS.createCoupon)], async ({ ctx, caller }, input) => {
    const coupon = await createCoupon(ctx, caller, input);
    const { id, code, type, value, isActive, maxUses, usedCount, expiresAt, createdByEmail, createdAt } = coupon;
    return {
      id: String(id),
      code,
      type,
      value,
      isActive,
      maxUses,
      usedCount,
      createdByEmail,
      expiresAt: toIsoText(expiresAt),
      createdAt: createdAt.toISOString(),
    };
  }),
});
