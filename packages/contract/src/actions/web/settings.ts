import { Type } from '@sinclair/typebox';
import {
  ApiKey,
  ChangeApiKeyInput,
  CreateApiKeyInput,
  createApiKey,
  ListApiKeysQuery,
  listApiKeys,
} from '../../accounts/api-keys.ts';
import { listSessions } from '../../accounts/auth.ts';
import { ChangeSettingsInput, UserSettings } from '../../accounts/user-settings.ts';
import { ChangePasswordInput, DeleteUserInput, PatchUserInput } from '../../accounts/users.ts';
import { ActivateCouponInput } from '../../admin/coupons.ts';
import { Instant, nullable, strictObject, Uuid } from '../../primitives.ts';
import { bodyOf, NoData, NoInput, userAction } from './define.ts';

const SessionId = strictObject({ id: Uuid });
const KeyId = strictObject({ id: Uuid });

export const settingsActions = {
  getSettings: userAction(
    NoInput,
    Type.Object({
      ...UserSettings.properties,
      hasPassword: Type.Boolean(),
      trialEndsAt: nullable(Instant),
    }),
  ),
  changeProfile: userAction(PatchUserInput, NoData),
  changeSettings: userAction(ChangeSettingsInput, NoData),
  changePassword: userAction(ChangePasswordInput, NoData),
  activateCoupon: userAction(ActivateCouponInput, strictObject({ days: Type.Integer(), trialEndsAt: Instant })),
  deleteAccount: userAction(DeleteUserInput, NoData),

  listSessions: userAction(NoInput, bodyOf(listSessions)),
  endSession: userAction(SessionId, NoData),
  /** All but the one of the request. */
  endOtherSessions: userAction(NoInput, strictObject({ ended: Type.Integer() })),

  listKeys: userAction(ListApiKeysQuery, bodyOf(listApiKeys)),
  /** With an id that the caller has chosen: a second key with it is a conflict. */
  createKey: userAction(
    strictObject({ ...KeyId.properties, ...CreateApiKeyInput.properties }),
    Type.Omit(createApiKey.response[201], ['success']),
  ),
  changeKey: userAction(strictObject({ ...KeyId.properties, ...ChangeApiKeyInput.properties }), ApiKey),
  deleteKey: userAction(KeyId, NoData),
};
