import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { RateLimitDetails } from './envelopes.ts';
import { nullable, strict, words } from './primitives.ts';

/** Specification "Server-action errors"; decisions §12. */

const failed = <P extends Record<string, TSchema>>(fields: P) => strict({ success: Type.Literal(false), ...fields });
const Text = Type.String();

export const ActionError = Type.Union([
  failed({
    error: Type.Literal('Validation error'),
    details: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Messages by field' }),
    // Never there: so that a client may ask any error for its code.
    code: Type.Optional(Type.Unsafe<undefined>({ not: {} })),
  }),
  failed({ error: Type.Literal('Unauthorized'), code: Type.Literal('AUTH_REQUIRED') }),
  failed({ error: Type.Literal('Forbidden'), code: Type.Literal('INSUFFICIENT_PERMISSIONS') }),
  failed({
    error: Type.Literal('Too many requests'),
    code: Type.Literal('RATE_LIMIT_EXCEEDED'),
    retryAfter: Type.Integer({ description: 'Seconds' }),
    details: strict({
      ...RateLimitDetails.properties,
      reset: Type.Integer({ description: 'Seconds since the epoch, rounded up' }),
    }),
  }),
  failed({
    error: Type.Literal('Quota exceeded'),
    code: Type.Literal('QUOTA_EXCEEDED'),
    message: Text,
    details: strict({
      resource: Text,
      used: nullable(Type.Integer()),
      limit: nullable(Type.Integer()),
      resetAt: nullable(Type.String({ format: 'date-time' })),
    }),
  }),
  failed({ error: Text, code: words(['NOT_FOUND', 'CONFLICT']) }),
  failed({ error: Type.Literal('Service unavailable'), code: Type.Literal('SERVICE_UNAVAILABLE'), message: Text }),
  failed({ error: Type.Literal('Internal error'), code: Type.Literal('INTERNAL_ERROR') }),
]);
export type ActionError = Static<typeof ActionError>;
