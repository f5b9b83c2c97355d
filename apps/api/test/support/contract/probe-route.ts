import type { Operation } from '@carillon/contract';
import { errorResponses, PUBLIC, strictObject } from '@carillon/contract';
import { IdParams, pageLimit } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { App } from '../../../src/platform/http/validation.ts';

const probe = {
  operationId: 'probe',
  summary: 'A route of the tests',
  tags: ['test'],
  security: PUBLIC,
  params: IdParams,
  querystring: Type.Object({ limit: pageLimit(20), search: Type.Optional(Type.String()) }),
  body: strictObject({ name: Type.String(), free: Type.Optional(Type.Unknown()) }),
  response: {
    200: Type.Object({ id: Type.Integer(), limit: Type.Integer(), name: Type.String() }),
    ...errorResponses(400, 404),
  },
} satisfies Operation;

/** Registers the public route `POST /probe/:id`, whose handler pushes the request body to `reached`. */
export function probeRoute(reached: unknown[]) {
  return (app: FastifyInstance): void => {
    (app as unknown as App).post('/probe/:id', { schema: probe, config: { access: 'public' } }, async (request) => {
      reached.push(request.body);
      return { id: request.params.id, limit: request.query.limit, name: request.body.name, secret: 'stays inside' };
    });
  };
}
