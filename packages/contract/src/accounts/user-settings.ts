import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from '../operation.ts';
import { IfMatch, IfNoneMatch, NOT_MODIFIED } from '../preconditions.ts';
import { Email, HttpUrl, Language, nullable, strictObject, TimeZone, UserName, Uuid } from '../primitives.ts';
import { EMAIL_CONFLICT, emailChange, PatchUserInput, PendingEmail } from './users.ts';

const common = { tags: ['users'], security: SIGNED_IN };

export const UserSettings = Type.Object({
  email: Type.String(),
  pendingEmail: PendingEmail,
  language: Language,
  notificationPreferences: Type.Object({
    email: Type.Boolean({ description: 'Whether notifications are mailed' }),
    webhook: Type.Boolean({ description: 'Whether events are sent to `webhookUrl`' }),
  }),
  webhookUrl: nullable(
    Type.String({
      description: 'Receives `task.completed`, `task.failed` and `usage.alert` through its webhook',
    }),
  ),
  webhookId: nullable(Type.String({ description: 'The id of that webhook, for its log, its secret and its test' })),
  notificationEmails: Type.Array(Type.String(), {
    description: "Receive notifications in addition to the account's address, once they are confirmed",
  }),
  unconfirmedEmails: Type.Array(Type.String(), {
    description:
      'Those of `notificationEmails`, of the `notificationEmail` of tasks and of e-mail channels that get nothing but a link before it is opened. Saving an address again mails another link once the last one is an hour old',
  }),
  channels: Type.Array(Type.String(), { description: "Ids of the channels that get the account's notifications" }),
  hasModelRouterApiKey: Type.Boolean(),
});
export type UserSettings = Static<typeof UserSettings>;

const NotificationPreferences = strictObject({
  email: Type.Optional(Type.Boolean()),
  webhook: Type.Optional(Type.Boolean()),
});

export const ChangeSettingsInput = strictObject({
  ...emailChange,
  language: Type.Optional(Language),
  notificationPreferences: Type.Optional(NotificationPreferences),
  modelRouterApiKey: PatchUserInput.properties.encryptedProviderKey,
  webhookUrl: Type.Optional(nullable(HttpUrl)),
  notificationEmails: Type.Optional(
    Type.Array(Email, { maxItems: 10, description: 'Duplicates are ignored; an empty list for none' }),
  ),
  channels: Type.Optional(
    Type.Array(Uuid, {
      maxItems: 20,
      description:
        "Ids of channels that get the account's notifications. Duplicates are ignored; an empty list for none",
    }),
  ),
});
export type ChangeSettingsInput = Static<typeof ChangeSettingsInput>;

/** The input of the action `updateProfile`. */
export const ChangeProfileInput = strictObject({
  name: Type.Optional(UserName),
  email: Type.Optional(Email),
  timezone: Type.Optional(nullable(TimeZone)),
  notificationPreferences: Type.Optional(NotificationPreferences),
});
export type ChangeProfileInput = Static<typeof ChangeProfileInput>;

const SettingsResponse = Type.Object({ success, settings: UserSettings });

export const getUserSettings = {
  ...common,
  operationId: 'getUserSettings',
  summary: 'Get user settings',
  description: 'Returns the settings: language, notification targets and channels.',
  headers: IfNoneMatch,
  response: { 200: SettingsResponse, ...NOT_MODIFIED, ...errorResponses(401, 429) },
} satisfies Operation;

export const changeUserSettings = {
  ...common,
  operationId: 'changeUserSettings',
  summary: 'Change user settings',
  description:
    'Returns all settings. Another `email` counts once the link that is mailed to it is opened, as in `patchUser`. An address that is new in `notificationEmails` gets a link, and nothing else before it is opened.',
  headers: IfMatch,
  body: ChangeSettingsInput,
  response: {
    200: SettingsResponse,
    ...errorResponses(401, 403, 412, 429),
    ...describedErrors(EMAIL_CONFLICT),
  },
} satisfies Operation;
