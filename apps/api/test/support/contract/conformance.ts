import { subscribe } from 'node:diagnostics_channel';
import {
  compileValidator,
  ERROR_CODES,
  ErrorBody,
  NAMED_SCHEMAS,
  type Operation,
  RateLimitErrorBody,
  type Validator,
} from '@carillon/contract';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** The routes of an application and of its plugins. */
export const listRoutes = (app: FastifyInstance): RouteOptions[] => routes.get(app) ?? [];

const routes = new WeakMap<FastifyInstance, RouteOptions[]>();
const checks = new Map<string, Validator<unknown>>();

/*
 * Validates every response of every application in this process against the contract. A mismatch is thrown outside of
 * the request, where no error handler can turn it into a response, and fails the test file.
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
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (operation === undefined || isPage || typeof payload !== 'string') return;
    const problem =
      explainMismatch(operation, reply.statusCode, payload) ??
      explainCode(operation, reply.statusCode, reply.getHeader('x-error-code'));
    if (problem === null) return;
    const what = `${request.method} ${request.url.slice(0, 100)} answered ${reply.statusCode} ${payload.slice(0, 500)}`;
    setImmediate(() => {
      throw new Error(`${what}\n${problem}`);
    });
  });
});

/** Describes how a response differs from `operation`, or returns null. */
export function explainMismatch(operation: Operation, status: number, payload: string): string | null {
  const given = operation.response[status];
  // A response with several content types has its JSON schema in `content`.
  const schema: TSchema | undefined = given?.content?.['application/json'].schema ?? given;
  if (!schema) return `${operation.operationId} does not declare the status ${status}.`;
  // A redirect has no body.
  if (status >= 300 && status < 400) return null;
  const key = `${operation.operationId} ${status}`;
  const check = checks.get(key) ?? compileValidator(inlineReferences(schema));
  checks.set(key, check);
  const checked = check(JSON.parse(payload));
  return checked.ok ? null : `${operation.operationId} declares another schema: ${JSON.stringify(checked.details)}`;
}

/** Every error has the code of its status in a header, but for the 503 of a probe, which is no error body. */
function explainCode({ operationId }: Operation, status: number, code: unknown): string | null {
  if (status < 400 || operationId === 'getReadiness') return null;
  const { status: declared } = ERROR_CODES[code as keyof typeof ERROR_CODES] ?? {};
  return declared === status ? null : `${operationId} has the X-Error-Code ${code}.`;
}

/** Undefined for routes of the tests. */
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

/** Inlines the references, which the validator of the contract does not resolve. */
function inlineReferences(schema: TSchema): TSchema {
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
