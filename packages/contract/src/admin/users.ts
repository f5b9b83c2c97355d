import { type Static, Type } from '@sinclair/typebox';
import { Role } from '../accounts/auth.ts';
import { UserStats } from '../accounts/users.ts';
import { success } from '../envelopes.ts';
import { ADMIN, describedErrors, errorResponses, type Operation } from '../operation.ts';
import {
  Id,
  IdParams,
  Instant,
  InstantInput,
  nullable,
  Offset,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
} from '../primitives.ts';

const common = { tags: ['admin'], security: ADMIN };

const PLANS = ['trial', 'pro'] as const;
const Plan = stringEnum(PLANS, { description: 'The plan, which decides the quotas' });

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

export const AdminUser = Type.Object(
  { ...fields, stats: Type.Object({ totalTasks: Type.Integer(), totalExecutions: Type.Integer() }) },
  { $id: 'AdminUser' },
);

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
  summary: 'List users',
  description:
    'Returns all accounts, newest first. `search` matches a part of the e-mail address or the name in any letter case. Pages by `limit` and `offset`.',
  querystring: ListUsersQuery,
  response: {
    200: Type.Object({
      success,
      data: Type.Object({
        users: Type.Array(ref(AdminUser)),
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
  summary: 'Get a user',
  description:
    'Returns the account with its statistics and its last 20 activities: sign-ins, changes by an administrator, tasks, runs and coupons.',
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
              description: 'A kind of the audit log, `task.created`, or `execution.` with the status of the run',
            }),
            timestamp: Instant,
            details: Type.Record(Type.String(), Type.Unknown()),
          }),
          { description: 'The last 20, newest first' },
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
  summary: 'Change a user',
  description:
    'Changes the role, the plan, the trial or the activation of an account. Changing the role and deactivating end its sessions immediately. Deactivating also suspends its tasks: pending runs are dropped, running ones finish.',
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
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'The account is the last active administrator' }),
  },
} satisfies Operation;

export const deleteAccount = {
  ...common,
  operationId: 'deleteAccount',
  summary: 'Delete a user',
  description:
    'Deletes an account with all its data. Running executions are aborted. The audit log keeps an entry of the deletion.',
  params: IdParams,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: 'The account is the last active administrator' }),
  },
} satisfies Operation;
