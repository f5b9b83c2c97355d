import { type Static, Type } from '@sinclair/typebox';
import { NotValidBody, success } from './envelopes.ts';
import { describedErrors, errorResponses, type Operation, PUBLIC, SIGNED_IN } from './operation.ts';
import {
  Email,
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
} from './primitives.ts';

/** Specification "Accounts and sessions"; decisions §3. */

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
  summary: 'Open an account',
  description:
    'Opens an account on the trial plan. It signs nobody in: `login` does. The letter case of the address, and space around it, do not matter.',
  tags: ['auth'],
  security: PUBLIC,
  body: RegisterInput,
  response: {
    201: Type.Object({
      success,
      user: Type.Object({ id: Id, email: Type.String(), name: Type.String(), createdAt: Instant }),
    }),
    ...errorResponses(403, 429),
    ...describedErrors({ 409: 'The address is registered already' }),
  },
} satisfies Operation;

export const LoginInput = strictObject({
  email: Email,
  // Any length a stored password never had is simply wrong, not invalid.
  password: Type.String({ minLength: 1, maxLength: 1024 }),
});
export type LoginInput = Static<typeof LoginInput>;

export const login = {
  operationId: 'login',
  summary: 'Sign in',
  description:
    'Sets the cookie `local-session`. With the header `X-Request-Token: true` the answer also holds a bearer token. Of an account the 11th session ends the oldest one.',
  tags: ['auth'],
  security: PUBLIC,
  headers: Type.Object({
    'x-request-token': Type.Optional(Type.String({ description: '`true` asks for a bearer token' })),
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
      401: 'The address or the password is wrong; which of the two is not said',
      403: 'The account is deactivated, or a page of another site made the browser send this',
    }),
  },
} satisfies Operation;

export const logout = {
  operationId: 'logout',
  summary: 'End this session',
  description:
    'Ends the session of this request at once and takes the cookie away. Other sessions of the account stay.',
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const getSession = {
  operationId: 'getSession',
  summary: 'Who is signed in',
  description:
    'For a web client that wants to know at its start who is there. 401 says `{authenticated: false}` and no more.',
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
    ...errorResponses(429),
    401: Type.Object({ authenticated: Type.Literal(false) }, { description: 'Not authenticated' }),
  },
} satisfies Operation;

export const forgotPassword = {
  operationId: 'forgotPassword',
  summary: 'Ask for a link to choose a new password',
  description:
    'Answers alike whether or not the address has an account. The mailed link is good for one use within an hour; asking again voids the links before it.',
  tags: ['auth'],
  security: PUBLIC,
  body: strictObject({ email: Email }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(400, 403, 429, 500, 503),
  },
} satisfies Operation;

/** Whatever was never given out is an unknown token, and no validation error. */
const ResetToken = Type.String({ description: 'The last part of the mailed link' });

export const validateResetToken = {
  operationId: 'validateResetToken',
  summary: 'Whether a reset token could be used now',
  description: 'Consumes nothing. `error` is `Token inválido`, `Token expirado` or `Token já utilizado`.',
  tags: ['auth'],
  security: PUBLIC,
  querystring: Type.Object({ token: ResetToken }),
  response: {
    200: Type.Object({ valid: Type.Literal(true), userId: Id }),
    ...errorResponses(429, 500, 503),
    400: ref(NotValidBody, 'Not a token that could be used now'),
  },
} satisfies Operation;

export const resetPassword = {
  operationId: 'resetPassword',
  summary: 'Choose a new password',
  description:
    'Works once for each token and ends all sessions of the account. A token that cannot be used is refused with the words of `validateResetToken`.',
  tags: ['auth'],
  security: PUBLIC,
  body: strictObject({ token: ResetToken, newPassword: Password }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(403, 429),
    ...describedErrors({ 400: 'The token cannot be used, or the password does not keep to the rules' }),
  },
} satisfies Operation;

export const listSessions = {
  operationId: 'listSessions',
  summary: 'Where you are signed in',
  description: 'The session that was used last comes first; `lastUsedAt` is exact to a minute.',
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({
      success,
      sessions: Type.Array(
        Type.Object({
          id: Uuid,
          userAgent: nullable(Type.String()),
          address: nullable(Type.String()),
          createdAt: Instant,
          lastUsedAt: Instant,
          expiresAt: Instant,
          current: Type.Boolean({ description: 'The session of this request' }),
        }),
      ),
    }),
    ...errorResponses(401, 429, 500, 503),
  },
} satisfies Operation;

export const endSession = {
  operationId: 'endSession',
  summary: 'Sign out elsewhere',
  description: 'Ends one of your sessions at once. Ending the one of this request also takes the cookie away.',
  tags: ['auth'],
  security: SIGNED_IN,
  params: Type.Object({ id: Uuid }),
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429, 500, 503),
  },
} satisfies Operation;
