import { type Static, Type } from '@sinclair/typebox';
import { Role } from './auth.ts';
import { success } from './envelopes.ts';
import { ADMIN, describedErrors, errorResponses, type Operation } from './operation.ts';
import {
  Id,
  IdParams,
  Instant,
  InstantInput,
  nullable,
  Offset,
  pageLimit,
  strictObject,
  stringEnum,
} from './primitives.ts';
import { UserStats } from './users.ts';

/** Specification "Admin": the accounts; decisions §9. */

const common = { tags: ['admin'], security: ADMIN };

const PLANS = ['trial', 'pro'] as const;
const Plan = stringEnum(PLANS, { description: 'Which quotas the account has' });

const fields = {
  id: Id,
  identityUserId: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  isActive: Type.Boolean(),
  trialEndsAt: nullable(Instant),
  createdAt: Instant,
};

export const ListUsersQuery = Type.Object({
  limit: pageLimit(50),
  offset: Offset,
  search: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address or the name' })),
  role: Type.Optional(Role),
  isActive: Type.Optional(Type.Boolean()),
});
export type ListUsersQuery = Static<typeof ListUsersQuery>;

export const listUsers = {
  ...common,
  operationId: 'listUsers',
  summary: 'All accounts, the newest first',
  description: 'Pages by `limit` and `offset`. `search` finds part of the address or the name, in any letter case.',
  querystring: ListUsersQuery,
  response: {
    200: Type.Object({
      success,
      data: Type.Object({
        users: Type.Array(
          Type.Object({
            ...fields,
            stats: Type.Object({ totalTasks: Type.Integer(), totalExecutions: Type.Integer() }),
          }),
        ),
        pagination: Type.Object({
          total: Type.Integer(),
          limit: Type.Integer(),
          offset: Type.Integer(),
          pages: Type.Integer(),
        }),
      }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const getAccount = {
  ...common,
  operationId: 'getAccount',
  summary: 'One account, with its figures and what happened to it last',
  description:
    'As `listUsers` shows it, and the last 20 things that happened to it: sign-ins, changes by an administrator, tasks, runs and coupons.',
  params: IdParams,
  response: {
    200: Type.Object({
      success,
      user: Type.Object({
        ...fields,
        timezone: nullable(Type.String()),
        updatedAt: Instant,
        stats: Type.Object({ ...UserStats.properties, failedExecutions: Type.Integer() }),
        recentActivity: Type.Array(
          Type.Object({
            type: Type.String({
              description: 'A kind of the audit log, `task.created`, or `execution.` and how it stands',
            }),
            timestamp: Instant,
            details: Type.Record(Type.String(), Type.Unknown()),
          }),
          { description: 'The last 20, the newest first' },
        ),
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;

export const ChangeAccountInput = strictObject({
  role: Type.Optional(Role),
  isActive: Type.Optional(Type.Boolean()),
  trialEndsAt: Type.Optional(nullable(InstantInput)),
  plan: Type.Optional(Plan),
});
export type ChangeAccountInput = Static<typeof ChangeAccountInput>;

export const changeAccount = {
  ...common,
  operationId: 'changeAccount',
  summary: 'Change the role, plan or trial of an account, or (de)activate it',
  description:
    'Another role and deactivation end its sessions at once. The tasks of a deactivated account rest: what waits is dropped, what runs is finished.',
  params: IdParams,
  body: ChangeAccountInput,
  response: {
    200: Type.Object({
      success,
      user: Type.Object({
        id: Id,
        role: Role,
        isActive: Type.Boolean(),
        trialEndsAt: nullable(Instant),
        updatedAt: Instant,
        plan: Type.Optional(stringEnum(PLANS, { description: 'Where the request gave one' })),
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'It is the last active administrator, who stays one' }),
  },
} satisfies Operation;

export const deleteAccount = {
  ...common,
  operationId: 'deleteAccount',
  summary: 'Delete an account with all its data',
  description: 'What is running is aborted. The record of the deletion stays in the audit log.',
  params: IdParams,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'It is the last active administrator, who stays one' }),
  },
} satisfies Operation;
