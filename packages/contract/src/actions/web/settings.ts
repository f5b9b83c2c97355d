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
import { ChangePasswordInput, DeleteUserInput, getUser, PatchUserInput } from '../../accounts/users.ts';
import { ActivateCouponInput } from '../../admin/coupons.ts';
import { ChannelChoice } from '../../channels/choices.ts';
import { Instant, nullable, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { bodyOf, CONFIRMATION, NoData, NoInput, userAction } from './define.ts';

/** What an export of an account has besides the account and its settings. */
export const EXPORT_PARTS = [
  'tasks',
  'proposals',
  'runs',
  'files',
  'webhooks',
  'channels',
  'keys',
  'alerts',
  'notifications',
  'usage',
] as const;
export type ExportPart = (typeof EXPORT_PARTS)[number];

const SessionId = strictObject({ id: Uuid });
const KeyId = strictObject({ id: Uuid });

export const settingsActions = {
  getSettings: userAction(
    NoInput,
    Type.Object({
      ...UserSettings.properties,
      channelChoices: Type.Array(ChannelChoice),
      /** When the address of the feed of the account was made; null without one. */
      feedCreatedAt: nullable(Instant),
      hasPassword: Type.Boolean(),
      trialEndsAt: nullable(Instant),
    }),
  ),
  changeProfile: userAction(PatchUserInput, NoData),
  changeSettings: userAction(ChangeSettingsInput, NoData),
  changePassword: userAction(ChangePasswordInput, NoData),
  activateCoupon: userAction(ActivateCouponInput, strictObject({ days: Type.Integer(), trialEndsAt: Instant })),
  startExport: userAction(
    strictObject(CONFIRMATION),
    Type.Object({
      exportedAt: Instant,
      account: getUser.response[200].properties.user,
      settings: UserSettings,
      parts: Type.Unsafe<readonly ExportPart[]>(Type.Array(Type.String())),
    }),
  ),
  /** Some rows of a part. */
  readExport: userAction(
    strictObject({ part: stringEnum(EXPORT_PARTS), after: Type.Optional(Type.String({ maxLength: 100 })) }),
    Type.Object({ rows: Type.Array(Type.Unknown()), after: nullable(Type.String()) }),
  ),
  deleteAccount: userAction(DeleteUserInput, NoData),

  listSessions: userAction(NoInput, bodyOf(listSessions)),
  endSession: userAction(SessionId, NoData),
  /** All but the one of the request. */
  endOtherSessions: userAction(NoInput, strictObject({ ended: Type.Integer() })),

  listKeys: userAction(ListApiKeysQuery, bodyOf(listApiKeys)),
  /** With an id that the caller has chosen: a second key with it is a conflict. */
  createKey: userAction(
    strictObject({ ...KeyId.properties, ...CreateApiKeyInput.properties, ...CONFIRMATION }),
    Type.Omit(createApiKey.response[201], ['success']),
  ),
  changeKey: userAction(strictObject({ ...KeyId.properties, ...ChangeApiKeyInput.properties }), ApiKey),
  deleteKey: userAction(KeyId, NoData),
};
