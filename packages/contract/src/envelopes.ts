import { type Static, Type } from '@sinclair/typebox';
import { Instant, nullable } from './primitives.ts';

export const success = Type.Literal(true);

export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String(),
    message: Type.Optional(Type.String()),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'ErrorResponse', description: 'The body of an error' },
);

export const ValidationErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: 'For example "Validation error" or "Invalid JSON"' }),
    message: Type.Optional(Type.String()),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Messages by field; nested fields are separated by dots',
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
      used: nullable(Type.Number()),
      limit: nullable(Type.Number()),
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

/** 400 of routes whose success has `valid`. */
export const NotValidBody = Type.Object(
  {
    valid: Type.Literal(false),
    error: Type.String({ description: 'The reason' }),
  },
  { $id: 'NotValid', description: 'What was validated is not valid, is missing, or could not be validated' },
);

/** Errors of the upload and inbound webhook routes. */
export const BareErrorBody = Type.Object(
  { error: Type.String(), message: Type.Optional(Type.String()) },
  { $id: 'BareError', description: 'Errors that all routes share, such as a validation error, keep their own form' },
);

/** The page position of lists with `offset` and `cursor`. */
export const Pagination = Type.Object({
  total: nullable(Type.Integer({ description: 'Null if the page was requested by `cursor`' })),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hasMore: Type.Boolean(),
  nextCursor: nullable(Type.String()),
});
