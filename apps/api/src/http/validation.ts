import {
  compileQueryValidator,
  compileValidator,
  type FieldErrors,
  findUnsafeValue,
  NAMED_SCHEMAS,
} from '@carillon/contract';
import type { Static, TSchema } from '@sinclair/typebox';
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { compileSerializer } from './serializers.ts';

/** Handlers see the static types of the contract's schemas. */
export interface ContractTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/**
 * The routes of one resource: a Fastify plugin, registered in `app.ts` as `app.register(tasksRoutes, { ctx })`.
 * Each route takes one operation of the contract as its `schema` and one word of `access` in its `config`.
 */
export type Routes = FastifyPluginAsync<{ ctx: Context }, RawServerDefault, ContractTypes>;

/** `success` of every answer that is not an error. */
export const success = true as const;

/** The Fastify instance that `Routes` are given. */
export type App = Parameters<Routes>[0];

declare module 'fastify' {
  interface FastifyRequest {
    /** The application's context with the id and the origin of this request, for logs, events and the audit log. */
    ctx: Context;
  }
}

/** Makes the contract's validator that of every route; the context of the application becomes `request.ctx`. */
export function registerContractValidation(app: FastifyInstance, ctx: Context): void {
  for (const schema of NAMED_SCHEMAS) app.addSchema(schema);
  app.setValidatorCompiler(({ schema, httpPart }) => compilePart(schema as TSchema, httpPart));
  app.setSerializerCompiler(compileSerializer);
  app.decorateRequest('ctx', {
    getter(this: FastifyRequest) {
      const origin = { address: this.ip, userAgent: this.headers['user-agent'] };
      return { ...ctx, log: this.log as Context['log'], requestId: this.id, origin };
    },
  });
}

/** Refuses what no schema forbids and PostgreSQL does not take. Runs before validation, on routes without a schema too. */
export function rejectBadValues({ params, query, body }: FastifyRequest): void {
  if (findUnsafeValue(params)) throw notFound();
  refuseBad('query', query);
  refuseBad('body', body);
}

function refuseBad(name: string, value: unknown): void {
  const bad = findUnsafeValue(value);
  if (bad) throw invalid({ [bad.field || name]: [bad.message] });
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
    // Headers are only looked at: a handler may read others than its schema names.
    return part === 'headers' ? {} : checked;
  };
}

const invalid = (details: FieldErrors) => new AppError('invalid', ERROR_MESSAGES.invalid, details);
/** An id that cannot exist is an id that does not exist (decisions §4). */
const notFound = () => new AppError('not_found', 'Not found');
