import { type Static, Type } from '@sinclair/typebox';
import { errors, success } from './envelopes.ts';
import { type Operation, PUBLIC, SIGNED_IN } from './operation.ts';
import { Email, Id, Instant, nullable, Password, strict, TimeZone, UserName, words } from './primitives.ts';

/** Specification "Accounts and sessions"; decisions §3. */

export const ROLES = ['USER', 'ADMIN'] as const;
export const Role = words(ROLES);

export const RegisterInput = strict({
  name: UserName,
  email: Email,
  password: Password,
  timezone: Type.Optional(TimeZone),
});
export type RegisterInput = Static<typeof RegisterInput>;

export const register = {
  operationId: 'register',
  summary: 'Open an account',
  tags: ['auth'],
  security: PUBLIC,
  body: RegisterInput,
  response: {
    201: Type.Object({
      success,
      user: Type.Object({ id: Id, email: Type.String(), name: Type.String(), createdAt: Instant }),
    }),
    ...errors(409, 429),
  },
} satisfies Operation;

export const LoginInput = strict({
  email: Email,
  // Any length a stored password never had is simply wrong, not invalid.
  password: Type.String({ minLength: 1, maxLength: 1024 }),
});
export type LoginInput = Static<typeof LoginInput>;

export const login = {
  operationId: 'login',
  summary: 'Sign in',
  description:
    'Sets the cookie `local-session`. With the header `X-Request-Token: true` the answer also holds a bearer token.',
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
    ...errors(401, 403, 429),
  },
} satisfies Operation;

export const logout = {
  operationId: 'logout',
  summary: 'End this session',
  tags: ['auth'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errors(401, 403, 429),
  },
} satisfies Operation;

export const getSession = {
  operationId: 'getSession',
  summary: 'Who is signed in',
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
    ...errors(429),
    401: Type.Object({ authenticated: Type.Literal(false) }, { description: 'Not authenticated' }),
  },
} satisfies Operation;
