import { subscribe } from 'node:diagnostics_channel';
import {
  compileValidator,
  ErrorBody,
  NAMED_SCHEMAS,
  type Operation,
  RateLimitErrorBody,
  type Validator,
} from '@carillon/contract';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** The routes of an application, its own ones and those of plugins. */
export const listRoutes = (app: FastifyInstance): RouteOptions[] => routes.get(app) ?? [];

const routes = new WeakMap<FastifyInstance, RouteOptions[]>();
const checks = new Map<string, Validator<unknown>>();

/*
 * Holds every answer of every application of this process to the contract, errors too. What differs is thrown outside
 * of the request, where nothing can catch it and make an answer of it: it fails the test file.
 */
subscribe('fastify.initialization', (message) => {
  const { fastify: app } = message as { fastify: FastifyInstance };
  const found: RouteOptions[] = [];
  routes.set(app, found);
  app.addHook('onRoute', (route) => {
    found.push(route);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const operation = request.is404 ? NOT_FOUND : getOperation(request.routeOptions.schema);
    if (operation === undefined || typeof payload !== 'string') return;
    const problem = explainMismatch(operation, reply.statusCode, payload);
    if (problem === null) return;
    const what = `${request.method} ${request.url.slice(0, 100)} answered ${reply.statusCode} ${payload.slice(0, 500)}`;
    setImmediate(() => {
      throw new Error(`${what}\n${problem}`);
    });
  });
});

/** Where an answer differs from what `operation` says; null where it does not. */
export function explainMismatch(operation: Operation, status: number, payload: string): string | null {
  const given = operation.response[status];
  // Of an answer that may come in several forms, the one that is JSON.
  const schema: TSchema | undefined = given?.content?.['application/json'].schema ?? given;
  if (!schema) return `${operation.operationId} does not say that it may answer ${status}.`;
  // A redirection says where to in its headers.
  if (status >= 300 && status < 400) return null;
  const key = `${operation.operationId} ${status}`;
  const check = checks.get(key) ?? compileValidator(withoutReferences(schema));
  checks.set(key, check);
  const checked = check(JSON.parse(payload));
  return checked.ok ? null : `${operation.operationId} says otherwise: ${JSON.stringify(checked.details)}`;
}

/** The operation that a route follows; the tests have routes of their own. */
function getOperation(schema: unknown): Operation | undefined {
  const operation = (schema ?? {}) as Partial<Operation>;
  const isOfContract = operation.operationId !== undefined && !operation.tags?.includes('test');
  return isOfContract ? (operation as Operation) : undefined;
}

const NOT_FOUND: Operation = {
  operationId: 'an unknown route',
  summary: '',
  tags: [],
  security: [],
  response: { 404: ErrorBody, 429: RateLimitErrorBody, 503: ErrorBody },
};

/** The schema with what it refers to put in place: the contract's validator knows no other schemas. */
function withoutReferences(schema: TSchema): TSchema {
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (typeof value !== 'object' || value === null) return value;
    const { $id: _id, $ref, ...rest } = value as Record<string, unknown>;
    const named = typeof $ref === 'string' ? NAMED_SCHEMAS.find(({ $id }) => `${$id}#` === $ref) : undefined;
    if ($ref !== undefined && named === undefined) throw new Error(`No schema is named ${$ref}.`);
    return Object.fromEntries(Object.entries({ ...named, ...rest, $id: undefined }).flatMap(entry));
  };
  const entry = ([key, value]: [string, unknown]): [string, unknown][] =>
    value === undefined ? [] : [[key, read(value)]];
  return read(schema) as TSchema;
}
