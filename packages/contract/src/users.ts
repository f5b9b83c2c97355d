import { type Static, Type } from '@sinclair/typebox';
import { Role } from './auth.ts';
import { errors, success } from './envelopes.ts';
import { type Operation, SIGNED_IN } from './operation.ts';
import { Id, Instant, nullable, ref, strict, TimeZone, UserName } from './primitives.ts';

/** Specification "Current user". */

export const UserStats = Type.Object({
  totalTasks: Type.Integer(),
  activeTasks: Type.Integer(),
  totalExecutions: Type.Integer(),
  successRate: Type.Number({ description: 'Percent, 0–100, at most two decimals' }),
});

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
  summary: 'The signed-in user',
  tags: ['users'],
  security: SIGNED_IN,
  response: {
    200: Type.Object({ success, user: ref(User) }),
    ...errors(401, 429),
  },
} satisfies Operation;

export const PatchUserInput = strict({
  name: Type.Optional(UserName),
  timezone: Type.Optional(nullable(TimeZone)),
  encryptedProviderKey: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        // It travels in a header, where other characters would fail the call or split the header.
        pattern: '^[\\x21-\\x7e]+$',
        description: "The user's own key for the AI service; encrypted at rest and never returned. null removes it",
      }),
    ),
  ),
});
export type PatchUserInput = Static<typeof PatchUserInput>;

export const patchUser = {
  operationId: 'patchUser',
  summary: 'Change the profile',
  tags: ['users'],
  security: SIGNED_IN,
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
    ...errors(401, 403, 429),
  },
} satisfies Operation;
