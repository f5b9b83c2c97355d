import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  PUBLIC,
  SIGNED_IN,
} from '../operation.ts';
import { IfMatch, IfNoneMatch, NOT_MODIFIED } from '../preconditions.ts';
import {
  Email,
  GivenPassword,
  Id,
  Instant,
  nullable,
  Password,
  ref,
  strictObject,
  TimeZone,
  UserName,
} from '../primitives.ts';
import { Role } from './auth.ts';

export const EMAIL_CONFLICT = {
  409: 'Another account has this e-mail address, or the current one is `BOOTSTRAP_ADMIN_EMAIL`',
};

export const UserStats = Type.Object({
  totalTasks: Type.Integer(),
  activeTasks: Type.Integer(),
  totalExecutions: Type.Integer(),
  successRate: Type.Number({ description: 'Percent, 0–100, at most two decimals' }),
});

export const PendingEmail = nullable(
  Type.String({ description: 'The new e-mail address until it is confirmed; null if there is none' }),
);

export const User = Type.Object(
  {
    id: Id,
    identityUserId: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: Role,
    timezone: nullable(Type.String()),
    isActive: Type.Boolean(),
    trialEndsAt: nullable(Instant),
    createdAt: Instant,
    stats: UserStats,
  },
  { $id: 'User' },
);

export const getUser = {
  operationId: 'getUser',
  summary: 'Get the current user',
  description:
    'Returns the profile with statistics of its tasks and runs. `successRate` is the share of completed executions among the completed and failed ones.',
  tags: ['users'],
  security: SIGNED_IN,
  headers: IfNoneMatch,
  response: {
    200: Type.Object({ success, user: ref(User) }),
    ...NOT_MODIFIED,
    ...errorResponses(401, 429),
  },
} satisfies Operation;

/** A change of the e-mail address over HTTP. */
export const emailChange = {
  email: Type.Optional(Email),
  currentPassword: Type.Optional(
    Type.String({
      format: 'password',
      minLength: 1,
      maxLength: 1024,
      description: 'Required for another `email`, unless the account has no password',
    }),
  ),
};

export const PatchUserInput = strictObject({
  name: Type.Optional(UserName),
  ...emailChange,
  timezone: Type.Optional(nullable(TimeZone)),
  encryptedProviderKey: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        // Sent in a header, where other characters would fail the call or split the header.
        pattern: '^[\\x21-\\x7e]+$',
        description: "The user's own key for the AI service; encrypted at rest and never returned. Null removes it",
      }),
    ),
  ),
});
export type PatchUserInput = Static<typeof PatchUserInput>;

export const patchUser = {
  operationId: 'patchUser',
  summary: 'Change the current user',
  description:
    'Changes the fields that are given. If the user has a personal key for the AI service, their tasks run with it; it is stored encrypted. Another `email` counts once the link that is mailed to it is opened, see `confirmEmail`; an account without a password first gets a link at its present address. At most 5 changes of the address an hour; after 5 passwords in 15 minutes, 429.',
  tags: ['users'],
  security: SIGNED_IN,
  headers: IfMatch,
  body: PatchUserInput,
  response: {
    200: Type.Object({
      success,
      user: Type.Object({
        id: Id,
        name: Type.String(),
        timezone: nullable(Type.String()),
        updatedAt: Instant,
      }),
    }),
    ...errorResponses(401, 403, 412, 429),
    ...describedErrors(EMAIL_CONFLICT),
  },
} satisfies Operation;

export const DeleteUserInput = strictObject({
  currentPassword: Type.Optional(
    Type.String({
      format: 'password',
      minLength: 1,
      maxLength: 1024,
      description: 'Required if the account has a password',
    }),
  ),
  email: Type.Optional(
    Type.String({ maxLength: 1024, description: "The account's address; required if it has no password" }),
  ),
});
export type DeleteUserInput = Static<typeof DeleteUserInput>;

export const deleteUser = {
  operationId: 'deleteUser',
  summary: 'Delete the current user',
  description:
    'Deletes the account with all its data immediately and for good, and ends its sessions. It takes the current password: after 5 attempts in 15 minutes, 429. An account without a password repeats its e-mail address, with a session that is at most 15 minutes old.',
  tags: ['users'],
  security: SIGNED_IN,
  headers: IfMatch,
  body: DeleteUserInput,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 412, 429),
    ...describedErrors({
      403: 'The account has no password and the session is older than 15 minutes, the request has an API key, or a page of another site made the browser send the request',
      409: 'The account is the last active admin',
    }),
  },
} satisfies Operation;

export const confirmEmail = {
  operationId: 'confirmEmail',
  summary: 'Confirm an e-mail address',
  description:
    'Takes the token of a link `<APP_URL>/handler/confirm-email/<token>`, which works once and for an hour. The link is mailed to a new address of an account, to its present address if that has to approve the change, and to addresses that are to get notifications. `message` tells what was confirmed. Sessions continue when the address of an account changes.',
  tags: ['users'],
  security: PUBLIC,
  body: strictObject({ token: Type.String({ maxLength: 1024, description: 'The last part of the mailed link' }) }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(429),
    ...describedErrors({
      400: 'The link was used, replaced by a newer one, or is older than an hour',
      ...EMAIL_CONFLICT,
    }),
  },
} satisfies Operation;

export const ChangePasswordInput = strictObject({
  currentPassword: GivenPassword,
  newPassword: Password,
});
export type ChangePasswordInput = Static<typeof ChangePasswordInput>;

export const changePassword = {
  operationId: 'changePassword',
  summary: 'Change the password',
  description:
    'Ends all other sessions, invalidates its reset links and notifies the owner by mail. A wrong `currentPassword` is 400 on that field; after 5 attempts in 15 minutes, 429.',
  tags: ['users'],
  security: SIGNED_IN,
  body: ChangePasswordInput,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 409: orInProgress('The account has no password: set a first one with `forgotPassword`') }),
  },
} satisfies Operation;
