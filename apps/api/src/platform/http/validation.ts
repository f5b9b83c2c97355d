import {
  compileQueryValidator,
  compileValidator,
  type FieldErrors,
  findUnsafeValue,
  NAMED_SCHEMAS,
} from '@carillon/contract';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import type { Static, TSchema } from '@sinclair/typebox';
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES } from '../../errors.ts';

export interface ContractTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/** Each route has an operation of the contract as `schema`, and `access` in `config`. */
export type Routes = FastifyPluginAsync<{ ctx: Context }, RawServerDefault, ContractTypes>;

export const success = true as const;

export type App = Parameters<Routes>[0];

declare module 'fastify' {
  interface FastifyRequest {
    /** The application's context with the id and the origin of this request, or its transaction. */
    ctx: Context;
    /** While the handler runs in a transaction. */
    transaction: Context | null;
  }
}

export function registerContractValidation(app: FastifyInstance, ctx: Context): void {
  for (const schema of NAMED_SCHEMAS) app.addSchema(schema);
  app.setValidatorCompiler(({ schema, httpPart }) => compilePart(schema as TSchema, httpPart));
  app.setSerializerCompiler(compileSerializer);
  app.decorateRequest('transaction', null);
  app.decorateRequest('ctx', {
    getter(this: FastifyRequest) {
      if (this.transaction) return this.transaction;
      const origin = {
        address: this.ip,
        userAgent: this.headers['user-agent'],
        acceptLanguage: this.headers['accept-language'],
      };
      return { ...ctx, log: this.log as Context['log'], requestId: this.id, origin };
    },
  });
}

/** Throws for values that PostgreSQL cannot store, which no schema forbids. */
export function rejectUnstorable(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    // Assistants read errors in the form of their protocol.
    if (request.routeOptions.config.access !== 'key') assertStorable(request);
    done();
  });
}

export function assertStorable({ params, query, body }: FastifyRequest): void {
  if (findUnsafeValue(params)) throw notFound();
  assertSafe('query', query);
  assertSafe('body', body);
}

function assertSafe(name: string, value: unknown): void {
  const unsafe = findUnsafeValue(value);
  if (unsafe) throw invalid({ [unsafe.field || name]: [unsafe.message] });
}

function compilePart(schema: TSchema, part: string | undefined) {
  if (part === 'body') {
    const check = compileValidator(schema);
    return (value: unknown) => {
      const checked = check(value);
      return checked.ok ? checked : { error: invalid(checked.details) };
    };
  }
  const check = compileQueryValidator(schema);
  return (value: unknown) => {
    const checked = check(value);
    if (!checked.ok) return { error: part === 'params' ? notFound() : invalid(checked.details) };
    // A handler may read headers that its schema does not name.
    return part === 'headers' ? {} : checked;
  };
}

const invalid = (details: FieldErrors) => new AppError('invalid', ERROR_MESSAGES.invalid, details);
/** An id that cannot exist is answered like one that does not exist. */
const notFound = () => new AppError('not_found', 'Not found');

const MAX_UNKNOWN_NAMES = 10;
const MAX_NAME_LENGTH = 32;

/** Names ignored query parameters in a response header, so that a misspelt filter does not go unnoticed. */
export function nameUnknownQueryParameters(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const names = findUnknownNames(request);
    if (names.length > 0)
      reply.header('x-unknown-query-parameters', names.slice(0, MAX_UNKNOWN_NAMES).map(encodeName).join(', '));
    done();
  });
}

function findUnknownNames({ query, routeOptions, is404 }: FastifyRequest): string[] {
  if (is404) return [];
  const { properties = {} } = (routeOptions.schema?.querystring ?? {}) as { properties?: object };
  return Object.keys(query as object).filter((name) => name !== '' && !Object.hasOwn(properties, name));
}

/** A header holds visible ASCII only. Cutting a name may split a character in two. */
const encodeName = (name: string) => encodeURIComponent(name.slice(0, MAX_NAME_LENGTH).toWellFormed());

type Serializer = SerializerSelector.Serializer;

const factory = SerializerSelector();
const named = Object.fromEntries(NAMED_SCHEMAS.map((schema) => [schema.$id, schema]));
const ANY_ROUTE = { method: 'GET', url: '/', httpStatus: '200' };

/** Values are checked when they are given: without this, a warning is printed for each format of our own. */
const OPTIONS = { ajv: { formats: { 'time-zone': true } } } as const;

export const buildSerializer = (schema: unknown): Serializer => factory(named, OPTIONS)({ ...ANY_ROUTE, schema });

/** Builds a serializer at its first use, because building all takes a fifth of a start. */
export function compileSerializer({ schema }: { schema: unknown }): Serializer {
  let serialize: Serializer | undefined;
  return (value) => {
    serialize ??= buildSerializer(schema);
    return serialize(value);
  };
}
