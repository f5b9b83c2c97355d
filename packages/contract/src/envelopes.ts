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

/** What a refusal means where an operation says nothing nearer. */
export const MEANINGS = {
  400: 'Invalid request or validation failed',
  401: 'Not authenticated',
  402: 'Quota exceeded',
  403: 'No permission',
  404: 'Not found',
  409: 'Conflict',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  503: 'Maintenance or overload',
} as const;

const RESPONSES = {
  400: ref(InvalidBody, MEANINGS[400]),
  401: ref(ErrorBody, MEANINGS[401]),
  402: ref(QuotaBody, MEANINGS[402]),
  403: ref(ErrorBody, MEANINGS[403]),
  404: ref(ErrorBody, MEANINGS[404]),
  409: ref(ErrorBody, MEANINGS[409]),
  429: ref(RateLimitBody, MEANINGS[429]),
  500: ref(ErrorBody, MEANINGS[500]),
  503: ref(ErrorBody, MEANINGS[503]),
} as const;

/** What any operation may answer: to a query or a body that cannot be read, and where the service itself fails. */
const ALWAYS = [400, 500, 503] as const;

/** The `response` entries of the statuses that an operation may refuse with, beside those of every operation. */
export function errors<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const entries = [...statuses, ...ALWAYS].map((status) => [status, RESPONSES[status]]);
  return Object.fromEntries(entries) as Pick<typeof RESPONSES, NoInfer<S> | (typeof ALWAYS)[number]>;
}

/** As the entries of `errors`, with what each status means at this operation. */
export function refusals<S extends keyof typeof RESPONSES>(meanings: Record<S, string>) {
  const entries = Object.entries<string>(meanings).map(([status, meaning]) => [
    status,
    { ...RESPONSES[Number(status) as S], description: meaning },
  ]);
  return Object.fromEntries(entries) as Pick<typeof RESPONSES, S>;
}

/** 400 of routes whose own errors are `{error}` alone: a validation error keeps its form. */
export const BareOrInvalid = Type.Unsafe<Static<typeof InvalidBody> | Static<typeof BareErrorBody>>({
  anyOf: [ref(InvalidBody), ref(BareErrorBody)],
  description: 'The request cannot be read (`{error}`) or is not valid (`details` has the messages by field)',
});

/** As `errors`, for routes whose own errors are `{error}` alone. */
export function bareErrors<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const shared = [402, 403, 503];
  const entries = Object.entries(errors(...statuses)).map(([status, schema]) => [
    status,
    shared.includes(Number(status)) ? schema : ref(BareErrorBody, schema.description),
  ]);
  const bare = { ...Object.fromEntries(entries), 400: BareOrInvalid };
  return bare as Record<S | (typeof ALWAYS)[number], TSchema>;
}

/** Page position of lists that take `offset` and `cursor` (decisions §5). */
export const Pagination = Type.Object({
  total: nullable(Type.Integer({ description: 'Null on a page asked for by `cursor`' })),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hasMore: Type.Boolean(),
  nextCursor: nullable(Type.String()),
});
