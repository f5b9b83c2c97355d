import type { PageRoutes } from '../../http/routes.ts';
import { showAudit } from './audit.ts';
import { confirm, showConfirm } from './confirm.ts';
import { changeCoupon, deleteCoupon, showCoupon, showDeleteCoupon } from './coupons/coupon.ts';
import { createCoupon, showCoupons, showNewCoupon } from './coupons/list.ts';
import { setMaintenance, showMaintenance } from './maintenance.ts';
import { showOverview } from './overview.ts';
import { changeSettings, showSettings } from './settings.ts';
import { showUsers } from './users/list.ts';
import { deactivateUser, deleteUser, showDeactivateUser, showDeleteUser } from './users/removal.ts';
import { changeUser, extendTrial, reactivateUser, showUser } from './users/user.ts';

export function adminPages({ admin }: PageRoutes): void {
  admin('GET', '/admin', showOverview);
  admin('GET', '/admin/confirm', showConfirm);
  admin('POST', '/admin/confirm', confirm);
  admin('GET', '/admin/maintenance', showMaintenance);
  admin('POST', '/admin/maintenance', setMaintenance);
  admin('GET', '/admin/users', showUsers);
  admin('GET', '/admin/users/:id', showUser);
  admin('POST', '/admin/users/:id', changeUser);
  admin('POST', '/admin/users/:id/trial', extendTrial);
  admin('GET', '/admin/users/:id/deactivate', showDeactivateUser);
  admin('POST', '/admin/users/:id/deactivate', deactivateUser);
  admin('POST', '/admin/users/:id/reactivate', reactivateUser);
  admin('GET', '/admin/users/:id/delete', showDeleteUser);
  admin('POST', '/admin/users/:id/delete', deleteUser);
  admin('GET', '/admin/coupons', showCoupons);
  admin('GET', '/admin/coupons/new', showNewCoupon);
  admin('POST', '/admin/coupons/new', createCoupon);
  admin('GET', '/admin/coupons/:id', showCoupon);
  admin('POST', '/admin/coupons/:id', changeCoupon);
  admin('GET', '/admin/coupons/:id/delete', showDeleteCoupon);
  admin('POST', '/admin/coupons/:id/delete', deleteCoupon);
  admin('GET', '/admin/settings', showSettings);
  admin('POST', '/admin/settings', changeSettings);
  admin('GET', '/admin/audit', showAudit);
}
