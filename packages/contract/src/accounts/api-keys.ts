import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import {
  Cursor,
  Instant,
  InstantInput,
  nullable,
  OwnName,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
  Uuid,
} from '../primitives.ts';

/** What each scope allows. No scope contains another one. */
export const API_KEY_SCOPES = {
  'tasks:read': 'Read tasks and their occurrences, and preview schedules and prompts',
  'tasks:write':
    'Create, change, copy and delete tasks, preview sources, skip runs, and create and delete feeds of tasks',
  'executions:read': 'Read executions, their results, and alerts, mark executions as seen and acknowledge alerts',
  'executions:run': 'Run tasks now, fill in missed runs, retry and cancel executions',
  'agent:run': 'Send messages to agent mode',
  'uploads:read': 'Read uploads',
  'uploads:write': 'Upload and delete files',
  'webhooks:read': 'Read webhooks, channels and their delivery logs',
  'webhooks:write': 'Create, change, test and delete webhooks and channels, and send deliveries again',
  'usage:read': 'Read usage, usage alerts and notifications',
  'events:read': 'Read events',
  'profile:read': 'Read the profile and the settings',
  'profile:write':
    'Change the profile except the e-mail address, the settings and usage alerts, mark notifications as read, and create and delete the account feed',
  admin: 'Administrate, with an account that has the role `ADMIN`, and with `X-Admin-Key`',
} as const satisfies Record<string, string>;
export type ApiKeyScope = keyof typeof API_KEY_SCOPES;

/** What the tools of the MCP server need. */
export const ASSISTANT_SCOPES = [
  'tasks:read',
  'tasks:write',
  'executions:read',
  'executions:run',
  'webhooks:read',
  'usage:read',
] as const satisfies readonly ApiKeyScope[];

export const ApiKeyScopeName = stringEnum(Object.keys(API_KEY_SCOPES) as ApiKeyScope[]);

export const ApiKey = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    prefix: Type.String({ description: 'The first 12 characters of the key' }),
    scopes: Type.Array(ApiKeyScopeName),
    expiresAt: nullable(Instant),
    lastUsedAt: nullable(Instant),
    createdAt: Instant,
  },
  { $id: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

const common = { tags: ['keys'], security: SIGNED_IN };

const Expiry = nullable({ ...InstantInput, description: 'In the future. Null for a key that does not expire' });

export const CreateApiKeyInput = strictObject({
  name: OwnName,
  scopes: Type.Array(ApiKeyScopeName, { minItems: 1, description: 'What the key may do. Duplicates are ignored' }),
  expiresAt: Type.Optional(Expiry),
});
export type CreateApiKeyInput = Static<typeof CreateApiKeyInput>;

export const createApiKey = {
  ...common,
  operationId: 'createApiKey',
  summary: 'Create an API key',
  description:
    'The key is returned here as `secret`, and never again. Send it as `Authorization: Bearer <secret>`. Only administrators can give the scope `admin`. Sent twice without an `Idempotency-Key`, it creates two keys. A session older than 15 minutes is 403 with `X-Error-Code: CONFIRMATION_REQUIRED`: see `POST /api/auth/confirm`.',
  body: CreateApiKeyInput,
  response: {
    201: Type.Object({
      success,
      key: ref(ApiKey),
      secret: Type.String({ description: '`crl_` and 38 letters and digits' }),
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 402: 'The account has 25 keys already: delete one first' }),
  },
} satisfies Operation;

export const ListApiKeysQuery = Type.Object({ limit: pageLimit(25), cursor: Type.Optional(Cursor) });
export type ListApiKeysQuery = Static<typeof ListApiKeysQuery>;

export const listApiKeys = {
  ...common,
  operationId: 'listApiKeys',
  summary: 'List API keys',
  description:
    "Returns the caller's keys, newest first, those that have expired too. `lastUsedAt` is at most a minute old. Pages by `cursor`.",
  querystring: ListApiKeysQuery,
  response: {
    200: Type.Object({
      success,
      keys: Type.Array(ref(ApiKey)),
      pagination: Type.Object({ limit: Type.Integer(), hasMore: Type.Boolean(), nextCursor: nullable(Type.String()) }),
    }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

const ApiKeyParams = Type.Object({ id: Uuid });

export const ChangeApiKeyInput = strictObject({ name: Type.Optional(OwnName), expiresAt: Type.Optional(Expiry) });
export type ChangeApiKeyInput = Static<typeof ChangeApiKeyInput>;

export const changeApiKey = {
  ...common,
  operationId: 'changeApiKey',
  summary: 'Change an API key',
  description:
    'Scopes cannot be changed: create another key. A new `expiresAt` also makes an expired key valid again. A later one needs a session of the last 15 minutes, as a new key does.',
  params: ApiKeyParams,
  body: ChangeApiKeyInput,
  response: { 200: Type.Object({ success, key: ref(ApiKey) }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const deleteApiKey = {
  ...common,
  operationId: 'deleteApiKey',
  summary: 'Delete an API key',
  description: 'Requests with the key are then 401 in every process.',
  params: ApiKeyParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
