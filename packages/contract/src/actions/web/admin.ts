import { type Static, Type } from '@sinclair/typebox';
import { ChangeCouponInput, CreateCouponInput, ListCouponsQuery } from '../../admin/coupons.ts';
import { ChangeProviderInput, CreateProviderInput, ProviderId, TestProviderInput } from '../../admin/providers.ts';
import { ChangeSecurityInput, ChangeSystemSettingsInput } from '../../admin/settings.ts';
import { ChangeAccountInput, ListUsersQuery } from '../../admin/users.ts';
import { Cursor, Email, Id, Offset, pageLimit, strictObject, stringEnum } from '../../primitives.ts';
import { ModelName } from '../../tasks/run-settings.ts';
import { adminAction, adminChange, NoInput } from './define.ts';

const Plan = stringEnum(['trial', 'pro']);
/** The address of a program's document, or the id of its registration. */
const ClientId = Type.String({ minLength: 1, maxLength: 1500 });
const ById = strictObject({ id: Id });

export const BrowseAuditQuery = strictObject({
  account: Type.Optional(Type.String({ maxLength: 254, description: 'The number or the e-mail address' })),
  actor: Type.Optional(Type.String({ maxLength: 254, description: 'The number or the e-mail address' })),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  limit: pageLimit(50),
  cursor: Type.Optional(Cursor),
});
export type BrowseAuditQuery = Static<typeof BrowseAuditQuery>;

export const adminActions = {
  getServiceOverview: adminAction(NoInput),
  /** What `carillon doctor` finds while the service runs. */
  checkInstallation: adminAction(
    strictObject({ services: Type.Boolean({ description: 'Also the mail server and the file storage' }) }),
  ),

  listAccounts: adminAction(Type.Object({ ...ListUsersQuery.properties, plan: Type.Optional(Plan) })),
  getAccount: adminAction(ById),
  changeAccount: adminChange(strictObject({ id: Id, ...ChangeAccountInput.properties })),
  removeAccount: adminChange(strictObject({ id: Id, email: Email })),

  listCoupons: adminAction(ListCouponsQuery),
  getCoupon: adminAction(strictObject({ id: Id, limit: pageLimit(50), offset: Offset })),
  createCoupon: adminChange(CreateCouponInput),
  changeCoupon: adminChange(strictObject({ id: Id, ...ChangeCouponInput.properties })),
  deleteCoupon: adminChange(ById),

  getSystemSettings: adminAction(NoInput),
  changeSystemSettings: adminChange(ChangeSystemSettingsInput),
  changeSecurity: adminChange(ChangeSecurityInput),

  listProviders: adminAction(NoInput),
  createProvider: adminChange(
    strictObject({ ...CreateProviderInput.properties, modelOfNewTasks: Type.Optional(ModelName) }),
  ),
  changeProvider: adminChange(strictObject({ id: ProviderId, ...ChangeProviderInput.properties })),
  deleteProvider: adminChange(strictObject({ id: ProviderId })),
  testProvider: adminChange(TestProviderInput),

  listClients: adminAction(strictObject({ cursor: Type.Optional(ClientId) })),
  changeClient: adminChange(strictObject({ id: ClientId, blocked: Type.Boolean() })),

  listAudit: adminAction(BrowseAuditQuery),
};
