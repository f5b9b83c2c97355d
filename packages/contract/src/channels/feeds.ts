import { Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  PUBLIC,
  SIGNED_IN,
} from '../operation.ts';
import { IfNoneMatch, NOT_MODIFIED } from '../preconditions.ts';
import { Id, nullable, strictObject } from '../primitives.ts';

const common = { tags: ['feeds'], security: SIGNED_IN };
const TaskParams = Type.Object({ id: Id });
const CreatedFeed = Type.Object({
  success,
  url: Type.String({ description: 'The URL of the feed. Anyone with it can read the results: it is shown once' }),
});
const created = { 201: CreatedFeed, ...IDEMPOTENCY_ERRORS };
const deleted = { 200: Type.Object({ success, message: Type.String() }) };

export const createTaskFeed = {
  ...common,
  operationId: 'createTaskFeed',
  summary: 'Create the feed of a task',
  description:
    'Returns the address of an Atom feed with the newest 50 results of the task. A feed that exists already gets another address, and the former one ends. It needs a session of the last 15 minutes (`POST /api/auth/confirm`), or an API key with the scope `executions:read` too: the feed ends with that key.',
  params: TaskParams,
  body: nullable(strictObject({})),
  response: { ...created, ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const deleteTaskFeed = {
  ...common,
  operationId: 'deleteTaskFeed',
  summary: 'Delete the feed of a task',
  description: 'The address of the feed ends.',
  params: TaskParams,
  response: {
    ...deleted,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 404: 'The task does not exist, belongs to another user, or has no feed' }),
  },
} satisfies Operation;

export const createAccountFeed = {
  ...common,
  operationId: 'createAccountFeed',
  summary: 'Create the account feed',
  description:
    'Returns the address of an Atom feed with the newest 50 results of all tasks. A feed that exists already gets another address, and the former one ends. It needs a session of the last 15 minutes (`POST /api/auth/confirm`), or an API key with the scope `executions:read` too: the feed ends with that key.',
  body: nullable(strictObject({})),
  response: { ...created, ...errorResponses(401, 403, 429) },
} satisfies Operation;

export const deleteAccountFeed = {
  ...common,
  operationId: 'deleteAccountFeed',
  summary: 'Delete the account feed',
  description: 'The address of the feed ends.',
  response: {
    ...deleted,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 404: 'The account has no feed' }),
  },
} satisfies Operation;

export const readFeed = {
  tags: ['feeds'],
  security: PUBLIC,
  operationId: 'readFeed',
  summary: 'Read a feed',
  description:
    'Returns the newest 50 results as an Atom feed, or 304 for an `If-None-Match` with its `ETag`. The address is the secret.',
  params: Type.Object({ secret: Type.String() }),
  headers: IfNoneMatch,
  response: {
    200: Type.Unsafe<unknown>({
      description: 'Atom (RFC 4287)',
      headers: { ETag: { type: 'string', description: 'The version of the feed, for `If-None-Match`' } },
      content: { 'application/atom+xml': { schema: { type: 'string' } } },
    }),
    ...NOT_MODIFIED,
    ...errorResponses(404, 429),
  },
} satisfies Operation;
