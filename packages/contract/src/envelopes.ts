import { type Static, Type } from '@sinclair/typebox';
import { type ErrorCode, ErrorCodeName } from './error-codes.ts';
import { Instant, nullable, ref } from './primitives.ts';

export const success = Type.Literal(true);

const code = ref(ErrorCodeName);

export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String(),
    code,
    message: Type.Optional(Type.String()),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'ErrorResponse', description: 'The body of an error' },
);

export const ValidationErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: 'For example "Validation error" or "Invalid JSON"' }),
    code,
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
    code: Type.Literal('QUOTA_EXCEEDED' satisfies ErrorCode),
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
    code: Type.Literal('RATE_LIMIT_EXCEEDED' satisfies ErrorCode),
    message: Type.String(),
    details: RateLimitDetails,
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds' })),
  },
  { $id: 'RateLimitError' },
);

/** Errors of routes whose success has `valid`. */
export const NotValidBody = Type.Object(
  {
    valid: Type.Literal(false),
    error: Type.String({ description: 'The reason' }),
    code,
  },
  { $id: 'NotValid', description: 'What was validated is not valid, or could not be validated' },
);

/** Errors that all routes share, of routes whose success has `valid`: clients read that field or `success`. */
export const NotValidatedBody = Type.Object(
  {
    valid: Type.Literal(false),
    success: Type.Literal(false),
    error: Type.String(),
    code,
    message: Type.Optional(Type.String()),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Messages by field, if the request is invalid',
      }),
    ),
  },
  { $id: 'NotValidated', description: 'The request is invalid, or the service is under maintenance or overloaded' },
);

/** The errors of routes whose success has `valid`, in both forms. */
export const notValidResponse = (description: string) =>
  Type.Unsafe<Static<typeof NotValidBody> | Static<typeof NotValidatedBody>>({
    anyOf: [ref(NotValidBody), ref(NotValidatedBody)],
    description,
  });

/** Errors of the upload and inbound webhook routes. */
export const BareErrorBody = Type.Object(
  { error: Type.String(), code, message: Type.Optional(Type.String()) },
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
