import { type Static, Type } from '@sinclair/typebox';
import { NotValidBody, success } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  PUBLIC,
  SIGNED_IN,
} from '../operation.ts';
import {
  Email,
  GivenPassword,
  Id,
  Instant,
  nullable,
  Password,
  ref,
  strictObject,
  stringEnum,
  TimeZone,
  UserName,
  Uuid,
} from '../primitives.ts';
import { Code, PasskeyAssertion, RecoveryCode } from './proofs.ts';

export const ROLES = ['USER', 'ADMIN'] as const;
export const Role = stringEnum(ROLES);

export const RegisterInput = strictObject({
  name: UserName,
  email: Email,
  password: Password,
  timezone: Type.Optional(TimeZone),
});
export type RegisterInput = Static<typeof RegisterInput>;

export const register = {
  operationId: 'register',
  summary: 'Register an account',
  description:
    'Creates an account on the trial plan. Does not sign in: use `login`. The e-mail address is case-insensitive and trimmed.',
  tags: ['auth'],
  security: PUBLIC,
  body: RegisterInput,
  response: {
    201: Type.Object({
      success,
      user: Type.Object({ id: Id, email: Type.String(), name: Type.String(), createdAt: Instant }),
    }),
    ...errorResponses(403, 429),
    ...describedErrors({ 409: 'The e-mail address is already registered' }),
  },
} satisfies Operation;

export const LoginInput = strictObject({
  email: Email,
  password: GivenPassword,
});
export type LoginInput = Static<typeof LoginInput>;

export const login = {
  operationId: 'login',
  summary: 'Sign in',
  description:
    'Sets the cookie `local-session`. With the header `X-Request-Token: true` the response also contains a bearer token. An account has at most 10 sessions: another one ends the oldest.',
  tags: ['auth'],
  security: PUBLIC,
  headers: Type.Object({
    'x-request-token': Type.Optional(Type.String({ description: '`true` requests a bearer token' })),
  }),
  body: LoginInput,
  response: {
    200: Type.Object({
      success,
      user: Type.Object({ id: Id, email: Type.String(), name: Type.String(), role: Role }),
      token: Type.Optional(Type.String()),
    }),
    ...errorResponses(429),
    ...describedErrors({
      401: 'The e-mail address or the password is wrong. Or the account has a second factor (`SECOND_FACTOR_REQUIRED`): `details` has the `ticket` for `answerTicket`, and the `kinds` of its factors',
      403: 'The account is deactivated, or a page of another site made the browser send the request',
    }),
  },
} satisfies Operation;

export const logout = {
  operationId: 'logout',
  summary: 'Sign out',
  description: 'Ends the session of this request immediately and clears the cookie. Other sessions continue.',
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const getSession = {
  operationId: 'getSession',
  summary: 'Get the current session',
  description:
    'For a web client that checks at its start whether a user is signed in. The body of 401 is `{authenticated: false}`.',
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({
      authenticated: Type.Literal(true),
      user: Type.Object({
        id: Id,
        email: Type.String(),
        name: Type.String(),
        role: Role,
        timezone: nullable(Type.String()),
        createdAt: Instant,
      }),
    }),
    ...errorResponses(403, 429),
    401: Type.Object({ authenticated: Type.Literal(false) }, { description: 'Not authenticated' }),
  },
} satisfies Operation;

export const ConfirmSessionInput = strictObject({
  password: Type.Optional(GivenPassword),
  code: Type.Optional(Code),
  recoveryCode: Type.Optional(RecoveryCode),
  response: Type.Optional(PasskeyAssertion),
});
export type ConfirmSessionInput = Static<typeof ConfirmSessionInput>;

export const confirmSession = {
  operationId: 'confirmSession',
  summary: 'Confirm the session',
  description:
    'Creating or prolonging an API key, creating a feed and changing second factors need a session that was opened, or confirmed here, within the last 15 minutes: else they are 403 with `X-Error-Code: CONFIRMATION_REQUIRED`. Send one of the fields. Where the account has a second factor, changing factors needs one of the others than `password`. 5 passwords in 15 minutes, 30 wrong codes an hour.',
  tags: ['auth'],
  security: SIGNED_IN,
  body: ConfirmSessionInput,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 409: orInProgress('The account has no password: sign in again with its provider') }),
  },
} satisfies Operation;

export const forgotPassword = {
  operationId: 'forgotPassword',
  summary: 'Request a password reset',
  description:
    'Responds the same whether or not the e-mail address has an account. The mailed link works once and expires after an hour; a new request invalidates earlier links.',
  tags: ['auth'],
  security: PUBLIC,
  body: strictObject({
    email: Type.String({ description: 'Any text gets the same response as an address without an account' }),
  }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(400, 403, 429, 500, 503),
  },
} satisfies Operation;

// Any string: a token that was never issued is unknown, not a validation error.
const ResetToken = Type.String({ description: 'The last part of the mailed link' });

export const validateResetToken = {
  operationId: 'validateResetToken',
  summary: 'Validate a reset token',
  description: 'Does not consume the token. `error` is `Token inválido`, `Token expirado` or `Token já utilizado`.',
  tags: ['auth'],
  security: PUBLIC,
  querystring: Type.Object({ token: ResetToken }),
  response: {
    200: Type.Object({ valid: Type.Literal(true), userId: Id }),
    ...errorResponses(429, 500, 503),
    400: ref(NotValidBody, 'The token cannot be used, or is missing'),
  },
} satisfies Operation;

export const resetPassword = {
  operationId: 'resetPassword',
  summary: 'Reset the password',
  description:
    'Works once per token and ends all sessions. A token that cannot be used fails with the errors of `validateResetToken`.',
  tags: ['auth'],
  security: PUBLIC,
  body: strictObject({ token: ResetToken, newPassword: Password }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(403, 429),
    ...describedErrors({ 400: 'The token cannot be used, or the password does not satisfy the rules' }),
  },
} satisfies Operation;

export const Session = Type.Object(
  {
    id: Uuid,
    userAgent: nullable(Type.String()),
    address: nullable(Type.String()),
    createdAt: Instant,
    lastUsedAt: Instant,
    expiresAt: Instant,
    current: Type.Boolean({ description: 'Whether it is the session of this request' }),
  },
  { $id: 'Session' },
);

export const listSessions = {
  operationId: 'listSessions',
  summary: 'List sessions',
  description:
    "Returns the caller's sessions, the most recently used first. `lastUsedAt` has a precision of one minute.",
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({
      success,
      sessions: Type.Array(ref(Session)),
    }),
    ...errorResponses(401, 429, 500, 503),
  },
} satisfies Operation;

export const endSession = {
  operationId: 'endSession',
  summary: 'End a session',
  description:
    "Ends one of the caller's sessions immediately. Ending the session of the request also clears the cookie.",
  tags: ['auth'],
  security: SIGNED_IN,
  params: Type.Object({ id: Uuid }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429, 500, 503),
  },
} satisfies Operation;
