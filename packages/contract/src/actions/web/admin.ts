import { type Static, Type } from '@sinclair/typebox';
import { Role } from '../../accounts/auth.ts';
import { AuditEntry } from '../../admin/audit.ts';
import { ChangeCouponInput, Coupon, CreateCouponInput, ListCouponsQuery, listCoupons } from '../../admin/coupons.ts';
import { ChangeSettingsInput, Settings } from '../../admin/settings.ts';
import { getStats } from '../../admin/stats.ts';
import { AdminUser, ChangeAccountInput, getAccount, ListUsersQuery } from '../../admin/users.ts';
import { Readiness } from '../../health.ts';
import {
  Cursor,
  Email,
  GivenPassword,
  Id,
  Instant,
  nullable,
  Offset,
  pageLimit,
  strictObject,
  stringEnum,
} from '../../primitives.ts';
import { adminAction, adminChange, NoData, NoInput, userAction } from './define.ts';

const Count = Type.Integer();
const Plan = stringEnum(['trial', 'pro']);
const ById = strictObject({ id: Id });
const { properties: stats } = getStats.response[200];
const ended = { completed: Count, failed: Count };

export const ServiceOverview = Type.Object({
  readiness: Readiness,
  isMaintenance: Type.Boolean(),
  users: stats.users,
  tasks: stats.tasks,
  runs: Type.Object({ total: Count, running: Count, successRate: stats.executions.properties.successRate }),
  topUsers: stats.topUsers,
  /** Queued runs, deliveries and mails, up to 100,000. */
  queues: Type.Object({
    executions: Count,
    deliveries: Count,
    mails: Count,
    oldestDueMs: Type.Integer({ description: '0 if nothing is due' }),
  }),
  hours: Type.Array(Type.Object({ from: Instant, ...ended, live: Count }), {
    description: 'The last 24, oldest first',
  }),
  days: Type.Array(Type.Object({ day: Type.String(), ...ended }), { description: 'The last 30 in UTC, oldest first' }),
});

const { properties: found } = AdminUser;
const AccountRow = Type.Object({ ...found, plan: Plan });

const Account = Type.Object({
  ...getAccount.response[200].properties.user.properties,
  plan: Plan,
  emailVerifiedAt: nullable(Instant),
  hasPassword: Type.Boolean(),
  providers: Type.Array(Type.String()),
  usage: Type.Object({
    runs: Type.Object({ used: Count, limit: Count }),
    tokens: Type.Object({ used: Count, limit: Count }),
  }),
  sessions: Type.Array(
    Type.Object({
      userAgent: nullable(Type.String()),
      address: nullable(Type.String()),
      createdAt: Instant,
      lastUsedAt: Instant,
    }),
    { description: 'At most 10, the last used first' },
  ),
});

const Confirmation = Type.Object({ hasPassword: Type.Boolean(), confirmedUntil: nullable(Instant) });

export const BrowseAuditQuery = strictObject({
  account: Type.Optional(Type.String({ maxLength: 254, description: 'The number or the e-mail address' })),
  actor: Type.Optional(Type.String({ maxLength: 254, description: 'The number or the e-mail address' })),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  limit: pageLimit(50),
  cursor: Type.Optional(Cursor),
});
export type BrowseAuditQuery = Static<typeof BrowseAuditQuery>;

export const adminActions = {
  getConfirmation: userAction(NoInput, Confirmation),
  confirmSession: userAction(
    strictObject({ currentPassword: GivenPassword }),
    Type.Object({ confirmedUntil: Instant }),
  ),

  getServiceOverview: adminAction(NoInput, ServiceOverview),

  listAccounts: adminAction(
    Type.Object({ ...ListUsersQuery.properties, plan: Type.Optional(Plan) }),
    Type.Object({
      users: Type.Array(AccountRow),
      pagination: Type.Object({ total: Count, limit: Count, offset: Count, pages: Count }),
    }),
  ),
  getAccount: adminAction(ById, Account),
  changeAccount: adminChange(
    strictObject({ id: Id, ...ChangeAccountInput.properties }),
    Type.Object({ role: Role, isActive: Type.Boolean(), plan: Plan, trialEndsAt: nullable(Instant) }),
  ),
  removeAccount: adminChange(strictObject({ id: Id, email: Email }), NoData),

  listCoupons: adminAction(ListCouponsQuery, listCoupons.response[200].properties.data),
  getCoupon: adminAction(
    strictObject({ id: Id, limit: pageLimit(50), offset: Offset }),
    Type.Object({
      coupon: Coupon,
      usage: Type.Array(
        Type.Object({ userId: Id, userEmail: Type.String(), userName: Type.String(), usedAt: Instant }),
      ),
    }),
  ),
  createCoupon: adminChange(CreateCouponInput, Type.Object({ id: Id, code: Type.String() })),
  changeCoupon: adminChange(strictObject({ id: Id, ...ChangeCouponInput.properties }), Coupon),
  deleteCoupon: adminChange(ById, NoData),

  getSystemSettings: adminAction(NoInput, Settings),
  changeSystemSettings: adminChange(ChangeSettingsInput, Settings),

  listAudit: adminAction(
    BrowseAuditQuery,
    Type.Object({ entries: Type.Array(AuditEntry), nextCursor: nullable(Type.String()) }),
  ),
};
