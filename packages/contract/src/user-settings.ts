import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { Email, HttpUrl, nullable, strictObject, TimeZone, UserName } from './primitives.ts';
import { PatchUserInput } from './users.ts';

/** What an account has set for itself: specification "Server actions", `updateSettings` and `updateProfile`. */

const common = { tags: ['users'], security: SIGNED_IN };

export const UserSettings = Type.Object({
  email: Type.String(),
  notificationPreferences: Type.Object({
    email: Type.Boolean({ description: 'Whether notifications are mailed' }),
    webhook: Type.Boolean({ description: 'Whether `webhookUrl` is sent anything' }),
  }),
  webhookUrl: nullable(
    Type.String({ description: 'Is sent `task.completed`, `task.failed` and `usage.alert`, by a webhook of its own' }),
  ),
  webhookId: nullable(Type.String({ description: 'That webhook: its log, its secret and its test' })),
  notificationEmails: Type.Array(Type.String(), {
    description: 'Get the notifications too, beside the address of the account',
  }),
  hasModelRouterApiKey: Type.Boolean(),
});
export type UserSettings = Static<typeof UserSettings>;

const NotificationPreferences = strictObject({
  email: Type.Optional(Type.Boolean()),
  webhook: Type.Optional(Type.Boolean()),
});

export const ChangeSettingsInput = strictObject({
  email: Type.Optional(Email),
  notificationPreferences: Type.Optional(NotificationPreferences),
  modelRouterApiKey: PatchUserInput.properties.encryptedProviderKey,
  webhookUrl: Type.Optional(nullable(HttpUrl)),
  notificationEmails: Type.Optional(
    Type.Array(Email, { maxItems: 10, description: 'Each counts once; an empty list for none' }),
  ),
});
export type ChangeSettingsInput = Static<typeof ChangeSettingsInput>;

/** What `updateProfile` changes. */
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
  summary: "The caller's settings",
  description: 'What the account has set for itself: who is told of what, and by which way.',
  response: { 200: SettingsResponse, ...errorResponses(401, 429) },
} satisfies Operation;

export const changeUserSettings = {
  ...common,
  operationId: 'changeUserSettings',
  summary: "Change the caller's settings",
  description:
    'A new `email` takes the place of the one to sign in with; the address before is told, and 5 times an hour is the most. Answers with all settings.',
  body: ChangeSettingsInput,
  response: {
    200: SettingsResponse,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 409: 'Another account has this address, or the installation names the one before' }),
  },
} satisfies Operation;
