import { type Static, Type } from '@sinclair/typebox';
import { Instant, nullable } from './primitives.ts';

/** Specification "Envelope", "Rate-limit response"; decisions §4. */

export const success = Type.Literal(true);

export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String(),
    message: Type.Optional(Type.String()),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'Error', description: 'What every refusal looks like' },
);

export const ValidationErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: '"Validation error" or "Invalid JSON", or what else is wrong' }),
    message: Type.Optional(Type.String()),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Messages by field; nested fields use dots',
      }),
    ),
  },
  { $id: 'ValidationError' },
);

export const QuotaErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Literal('Quota exceeded'),
    message: Type.String(),
    details: Type.Object({
      resource: Type.String(),
      used: nullable(Type.Integer()),
      limit: nullable(Type.Integer()),
      resetAt: nullable(Instant),
    }),
  },
  { $id: 'QuotaError' },
);

export const RateLimitDetails = Type.Object({
  limit: Type.Integer(),
  remaining: Type.Integer(),
  reset: Type.Integer({ description: 'Milliseconds since the epoch' }),
  resetIn: Type.Integer({ description: 'Seconds' }),
  retryAfter: Type.Integer({ description: 'Seconds' }),
});
export type RateLimitDetails = Static<typeof RateLimitDetails>;

export const RateLimitErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Literal('Rate limit exceeded'),
    message: Type.String(),
    details: RateLimitDetails,
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds' })),
  },
  { $id: 'RateLimitError' },
);

/** Errors of routes whose success says `valid` (specification "Token validation errors"). */
export const NotValidBody = Type.Object(
  {
    valid: Type.Literal(false),
    error: Type.String({ description: 'What is wrong' }),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Messages by field, where the request itself is not valid',
      }),
    ),
  },
  { $id: 'NotValid', description: 'A refusal of operations that answer with `valid`' },
);

/** Errors of routes that say `{error}` alone (specification "Upload/webhook errors"). */
export const BareErrorBody = Type.Object(
  { error: Type.String(), message: Type.Optional(Type.String()) },
  { $id: 'BareError', description: 'What all routes share, such as a validation error, keeps its own form' },
);

/** Page position of lists that take `offset` and `cursor` (decisions §5). */
export const Pagination = Type.Object({
  total: nullable(Type.Integer({ description: 'Null on a page asked for by `cursor`' })),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hasMore: Type.Boolean(),
  nextCursor: nullable(Type.String()),
});
