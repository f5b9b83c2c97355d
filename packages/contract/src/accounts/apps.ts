import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from '../operation.ts';
import { Cursor, Instant, nullable, pageLimit, ref, Uuid } from '../primitives.ts';
import { ApiKeyScopeName } from './api-keys.ts';

export const App = Type.Object(
  {
    id: Uuid,
    name: Type.String({ description: 'As the program names itself' }),
    host: Type.String({
      description:
        'The host of the address that it returns to, `localhost` or the like for one on the own computer, or a scheme such as `cursor:`',
    }),
    scopes: Type.Array(ApiKeyScopeName),
    createdAt: Instant,
    lastUsedAt: nullable(Instant),
  },
  { $id: 'App' },
);
export type App = Static<typeof App>;

const common = { tags: ['users'], security: SIGNED_IN };

export const ListAppsQuery = Type.Object({ limit: pageLimit(50), cursor: Type.Optional(Cursor) });
export type ListAppsQuery = Static<typeof ListAppsQuery>;

export const listApps = {
  ...common,
  operationId: 'listApps',
  summary: 'List connected apps',
  description:
    'Returns the assistants and other programs that the caller has connected by OAuth, newest first. `lastUsedAt` is at most a minute old. API keys are 403. Pages by `cursor`.',
  querystring: ListAppsQuery,
  response: {
    200: Type.Object({
      success,
      apps: Type.Array(ref(App)),
      pagination: Type.Object({ limit: Type.Integer(), hasMore: Type.Boolean(), nextCursor: nullable(Type.String()) }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const disconnectApp = {
  ...common,
  operationId: 'disconnectApp',
  summary: 'Disconnect an app',
  description: 'Its tokens are then 401 in every process. API keys are 403.',
  params: Type.Object({ id: Uuid }),
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
