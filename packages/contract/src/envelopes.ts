import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Instant, nullable, ref } from './primitives.ts';

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

export const InvalidBody = Type.Object(
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

export const QuotaBody = Type.Object(
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

export const RateLimitBody = Type.Object(
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
export const NotValidBody = Type.Object({ valid: Type.Literal(false), error: Type.String() }, { $id: 'NotValid' });

/** Errors of routes that say `{error}` alone (specification "Upload/webhook errors"). */
export const BareErrorBody = Type.Object(
  { error: Type.String(), message: Type.Optional(Type.String()) },
  { $id: 'BareError', description: 'What all routes share, such as a validation error, keeps its own form' },
);

const RESPONSES = {
  400: ref(InvalidBody, 'Invalid request or validation failed'),
  401: ref(ErrorBody, 'Not authenticated'),
  402: ref(QuotaBody, 'Quota exceeded'),
  403: ref(ErrorBody, 'No permission'),
  404: ref(ErrorBody, 'Not found'),
  409: ref(ErrorBody, 'Conflict'),
  429: ref(RateLimitBody, 'Rate limit exceeded'),
  500: ref(ErrorBody, 'Internal server error'),
  503: ref(ErrorBody, 'Maintenance or overload'),
} as const;

/** What any operation may answer: to a query or a body that cannot be read, and where the service itself fails. */
const ALWAYS = [400, 500, 503] as const;

/** The `response` entries of the statuses that an operation may refuse with, beside those of every operation. */
export function errors<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const entries = [...statuses, ...ALWAYS].map((status) => [status, RESPONSES[status]]);
  return Object.fromEntries(entries) as Pick<typeof RESPONSES, S | (typeof ALWAYS)[number]>;
}

/** As `errors`, for routes whose own errors are `{error}` alone. */
export function bareErrors<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const shared = [402, 403, 503];
  const entries = Object.entries(errors(...statuses)).map(([status, schema]) => [
    status,
    shared.includes(Number(status)) ? schema : ref(BareErrorBody, schema.description),
  ]);
  return Object.fromEntries(entries) as Record<S | (typeof ALWAYS)[number], TSchema>;
}

/** Page position of lists that take `offset` and `cursor` (decisions §5). */
export const Pagination = Type.Object({
  total: nullable(Type.Integer({ description: 'Null on a page asked for by `cursor`' })),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hasMore: Type.Boolean(),
  nextCursor: nullable(Type.String()),
});
