import type { TSchema } from '@sinclair/typebox';
import { BareErrorBody, ErrorBody, QuotaErrorBody, RateLimitErrorBody, ValidationErrorBody } from './envelopes.ts';
import { ref } from './primitives.ts';

/** One operation of the API, in the shape that a Fastify route takes as its `schema`. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  params?: TSchema;
  querystring?: TSchema;
  headers?: TSchema;
  /** Media types of the body. Default: JSON. */
  consumes?: string[];
  body?: TSchema;
  response: Record<number, TSchema>;
}

/** The `security` of each kind of access; the schemes are declared in the OpenAPI document. */
export const PUBLIC: Record<string, string[]>[] = [];
export const SIGNED_IN: Record<string, string[]>[] = [{ cookie: [] }, { bearer: [] }];
export const ADMIN: Record<string, string[]>[] = [
  { cookie: [], adminKey: [] },
  { bearer: [], adminKey: [] },
];
export const CRON: Record<string, string[]>[] = [{ cron: [] }];

/** The description of an error status, unless the operation has its own. */
export const DEFAULT_ERROR_DESCRIPTIONS = {
  400: 'Invalid request or validation failed',
  401: 'Not authenticated',
  402: 'Quota exceeded',
  403: 'No permission',
  404: 'Not found',
  409: 'Conflict',
  412: 'Precondition failed',
  422: 'Idempotency key reused',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  503: 'Maintenance or overload',
} as const;

const RESPONSES = {
  400: ref(ValidationErrorBody, DEFAULT_ERROR_DESCRIPTIONS[400]),
  401: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[401]),
  402: ref(QuotaErrorBody, DEFAULT_ERROR_DESCRIPTIONS[402]),
  403: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[403]),
  404: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[404]),
  409: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[409]),
  412: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[412]),
  422: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[422]),
  429: ref(RateLimitErrorBody, DEFAULT_ERROR_DESCRIPTIONS[429]),
  500: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[500]),
  503: ref(ErrorBody, DEFAULT_ERROR_DESCRIPTIONS[503]),
} as const;

/** Every operation can fail with these. */
const ALWAYS = [400, 500, 503] as const;

/** API keys are 403 wherever a caller is needed. */
type Implied<S> = 401 extends S ? 403 : never;

/** The `response` entries of the given error statuses and of those that every operation has. 401 includes 403. */
export function errorResponses<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const isForCallers = (statuses as number[]).includes(401);
  const list = [...statuses, ...(isForCallers ? [403 as const] : []), ...ALWAYS];
  const entries = list.map((status) => [status, RESPONSES[status]]);
  return Object.fromEntries(entries) as Pick<
    typeof RESPONSES,
    NoInfer<S> | Implied<NoInfer<S>> | (typeof ALWAYS)[number]
  >;
}

/** The `response` entries of error statuses with a description that is specific to the operation. */
export function describedErrors<S extends keyof typeof RESPONSES>(descriptions: Record<S, string>) {
  const entries = Object.entries<string>(descriptions).map(([status, description]) => [
    status,
    { ...RESPONSES[Number(status) as S], description },
  ]);
  return Object.fromEntries(entries) as Pick<typeof RESPONSES, S>;
}

const IN_PROGRESS =
  'The first request with this `Idempotency-Key` is in progress: repeat it with the same key after `Retry-After`';

/** The description of a 409 that has another cause too. */
export const orInProgress = (conflict: string) => `${conflict}. Or: ${IN_PROGRESS}`;

/** Of every POST of a user that changes something and is not an upload. The type leaves out 409, because its example is the same everywhere. */
export const IDEMPOTENCY_ERRORS: Pick<typeof RESPONSES, 422> = describedErrors({
  409: IN_PROGRESS,
  422: 'The `Idempotency-Key` was sent with another body before',
});

/** As `errorResponses`, for public routes whose own errors are `{error}` alone. */
export function bareErrorResponses<S extends keyof typeof RESPONSES = never>(...statuses: S[]) {
  const shared: number[] = [400, 402, 403, 503];
  const entries = [...statuses, ...ALWAYS].map((status) => [
    status,
    shared.includes(status) ? RESPONSES[status] : ref(BareErrorBody, RESPONSES[status].description),
  ]);
  return Object.fromEntries(entries) as Record<S | (typeof ALWAYS)[number], TSchema>;
}
