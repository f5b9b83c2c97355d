import { Type } from '@sinclair/typebox';
import { ChangeApiKeyInput, CreateApiKeyInput, ListApiKeysQuery } from '../../accounts/api-keys.ts';
import { CreateSecretInput } from '../../accounts/secrets.ts';
import { ChangeSettingsInput } from '../../accounts/user-settings.ts';
import { ChangePasswordInput, DeleteUserInput, PatchUserInput } from '../../accounts/users.ts';
import { ActivateCouponInput } from '../../admin/coupons.ts';
import { Language, nullable, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { CONFIRMATION, NoInput, userAction } from './define.ts';

/** What an export of an account has besides the account and its settings. */
export const EXPORT_PARTS = [
  'tasks',
  'versions',
  'proposals',
  'runs',
  'questions',
  'files',
  'webhooks',
  'channels',
  'keys',
  'apps',
  'factors',
  'secrets',
  'alerts',
  'notifications',
  'usage',
] as const;
export type ExportPart = (typeof EXPORT_PARTS)[number];

const SessionId = strictObject({ id: Uuid });
const KeyId = strictObject({ id: Uuid });

/** What a user may allow a program. */
export const CONSENT_PRESETS = ['look', 'run', 'everything'] as const;
export type ConsentPreset = (typeof CONSENT_PRESETS)[number];
const ConsentRequest = strictObject({
  search: Type.String({ maxLength: 16_000, description: 'The query with which the program asks' }),
});

export const settingsActions = {
  getSettings: userAction(NoInput),
  changeProfile: userAction(strictObject({ ...PatchUserInput.properties, language: Type.Optional(Language) })),
  changeSettings: userAction(ChangeSettingsInput),
  changePassword: userAction(ChangePasswordInput),
  activateCoupon: userAction(ActivateCouponInput),
  startExport: userAction(strictObject(CONFIRMATION)),
  /** Some rows of a part. */
  readExport: userAction(
    strictObject({ part: stringEnum(EXPORT_PARTS), after: Type.Optional(Type.String({ maxLength: 100 })) }),
  ),
  deleteAccount: userAction(DeleteUserInput),

  listSessions: userAction(NoInput),
  endSession: userAction(SessionId),
  /** All but the one of the request. */
  endOtherSessions: userAction(NoInput),

  listKeys: userAction(ListApiKeysQuery),
  /** With an id that the caller has chosen: a second key with it is a conflict. */
  createKey: userAction(strictObject({ ...KeyId.properties, ...CreateApiKeyInput.properties, ...CONFIRMATION })),
  changeKey: userAction(strictObject({ ...KeyId.properties, ...ChangeApiKeyInput.properties })),
  deleteKey: userAction(KeyId),

  listSecrets: userAction(NoInput),
  createSecret: userAction(CreateSecretInput),
  deleteSecret: userAction(strictObject({ id: Uuid })),

  listApps: userAction(NoInput),
  disconnectApp: userAction(KeyId),
  openConsent: userAction(ConsentRequest),
  /** Without a preset: the person refuses. */
  answerConsent: userAction(
    strictObject({ ...ConsentRequest.properties, preset: nullable(stringEnum(CONSENT_PRESETS)), ...CONFIRMATION }),
  ),
};
