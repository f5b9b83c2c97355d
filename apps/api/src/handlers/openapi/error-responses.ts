import {
  type Operation as ContractOperation,
  compileQueryValidator,
  compileValidator,
  DEFAULT_ERROR_DESCRIPTIONS,
  type FieldErrors,
} from '@carillon/contract';
import { EXAMPLES } from '@carillon/contract/examples/index';
import {
  AppError,
  ERROR_MESSAGES,
  missingScope,
  preconditionFailed,
  sessionRequired,
  toErrorBody,
} from '../../errors.ts';
import { idempotencyKeyReused, requestInProgress } from '../../platform/http/idempotency/stored-responses.ts';
import { tooManyRequests } from '../../platform/limits/windows.ts';
import { type Document, type Endpoint, getAccess, listEndpoints, type Media, type Operation } from './document.ts';

type Status = keyof typeof DEFAULT_ERROR_DESCRIPTIONS;

/**
 * Gives every error response an example, and a specific description unless the contract has one. `operations` are the
 * contract's operations by id.
 */
export function addErrorResponses(document: Document, operations: ReadonlyMap<string, ContractOperation>): void {
  for (const endpoint of listEndpoints(document)) {
    const { operationId = '', responses = {} } = endpoint.operation;
    const errors = EXAMPLES[operationId]?.errors ?? {};
    const fieldErrors = buildFieldErrors(operations.get(operationId));
    for (const [key, response] of Object.entries(responses)) {
      const status = Number(key) as Status;
      if (response.description === DEFAULT_ERROR_DESCRIPTIONS[status]) {
        response.description = describeError(endpoint, status);
      }
      const media = response.content?.['application/json'];
      if (!(status in DEFAULT_ERROR_DESCRIPTIONS) || !media) continue;
      const example = buildExample(endpoint, status, media, errors[status], fieldErrors);
      media.example = example;
    }
  }
}

const isNotValid = ({ schema }: Media): boolean =>
  [schema, ...(schema?.anyOf ?? [])].some((one) => one?.$ref?.endsWith('/NotValid'));

const WITHOUT_SCOPE = 'the API key does not have the scope';
const KEY_REFUSED = 'the operation takes no API key';
const OTHER_SITE = 'a page of another site made the browser send the request';

function describeError({ method, operation }: Endpoint, status: Status): string {
  const access = getAccess(operation);
  switch (status) {
    case 400:
      return 'The request cannot be read or is invalid: `details` has the messages by field';
    case 401:
      return access === 'cron'
        ? 'The scheduler secret is missing or wrong'
        : 'The session or the API key is missing or has ended, or its account is deactivated or deleted';
    case 402:
      return 'A quota of the plan is exhausted, or the trial has ended: see `details`';
    case 403: {
      const reasons = [
        ...(access === 'admin' ? ['the account is not an `ADMIN`, or `X-Admin-Key` is missing or wrong'] : []),
        ...(access === 'public' ? [] : [operation['x-scope'] ? WITHOUT_SCOPE : KEY_REFUSED]),
        ...(method === 'get' ? [] : [OTHER_SITE]),
      ].join('; or ');
      return reasons.charAt(0).toUpperCase() + reasons.slice(1);
    }
    case 404:
      if (access === 'public') return 'It does not exist';
      return access === 'admin' ? 'The id does not exist' : 'The id does not exist, or belongs to another user';
    case 412:
      return 'The resource is not as the ETags of `If-Match` say; nothing was changed';
    case 429:
      return 'Rate limit exceeded: retry after the seconds in `Retry-After`';
    case 500:
      return 'Internal error; the log has the cause under the `X-Request-ID`';
    case 503:
      return 'Maintenance, overload, or an unavailable dependency: retry after `Retry-After`';
    default:
      return DEFAULT_ERROR_DESCRIPTIONS[status];
  }
}

/** The body of an error in the form of its schema. `message` is the message, or the whole body, from the contract. */
function buildExample(
  endpoint: Endpoint,
  status: number,
  media: Media,
  message: string | Record<string, unknown> | undefined,
  fieldErrors: FieldErrors | null,
): unknown {
  if (typeof message === 'object') return message;
  const body = buildBody(endpoint, status, message, fieldErrors);
  if (isNotValid(media)) return { valid: false, error: message ?? body.error };
  switch (media.schema?.$ref?.split('/').at(-1)) {
    case 'BareError':
      return status === 429 || status === 500
        ? { error: body.error, message: body.message }
        : { error: message ?? body.error };
    default:
      return body;
  }
}

interface ErrorExample {
  success: false;
  error: string;
  message?: string;
  details?: object;
  retryAfter?: number;
}

function buildBody(
  endpoint: Endpoint,
  status: number,
  message: string | undefined,
  fieldErrors: FieldErrors | null,
): ErrorExample {
  switch (status) {
    case 400:
      return fieldErrors
        ? toErrorBody(new AppError('invalid', ERROR_MESSAGES.invalid, fieldErrors))
        : { success: false, error: 'Invalid address', message: ERROR_MESSAGES.invalidPath };
    case 401:
      return toErrorBody(new AppError('unauthenticated', message ?? ERROR_MESSAGES.unauthenticated));
    case 402:
      return toErrorBody(new AppError('over_quota', ERROR_MESSAGES.trialEnded, TRIAL_ENDED));
    case 403:
      if (getAccess(endpoint.operation) === 'admin')
        return toErrorBody(new AppError('not_admin', ERROR_MESSAGES.adminRequired));
      if (endpoint.method === 'get') return toErrorBody(buildKeyError(endpoint.operation));
      return toErrorBody(
        new AppError(message === undefined ? 'cross_site' : 'forbidden', message ?? ERROR_MESSAGES.otherSite),
      );
    case 412:
      return toErrorBody(preconditionFailed());
    case 409:
      return toErrorBody(message === undefined ? requestInProgress() : new AppError('conflict', message));
    case 422:
      return toErrorBody(idempotencyKeyReused());
    case 429:
      return buildRateLimitBody(endpoint);
    case 500:
      return {
        success: false,
        error: 'Internal server error',
        message: ERROR_MESSAGES.internal,
      };
    case 503:
      return toErrorBody(new AppError('unavailable', message ?? ERROR_MESSAGES.maintenance));
    default:
      return toErrorBody(new AppError('not_found', message ?? 'Not found'));
  }
}

const buildKeyError = ({ 'x-scope': scope }: Operation) =>
  scope === undefined ? sessionRequired() : missingScope(scope);

const TRIAL_ENDED = { resource: 'trial', used: null, limit: null, resetAt: null };
const NOW = new Date('2026-11-20T09:15:27.204Z');
const RETRY_AFTER_SECONDS = 42;

/** Authentication routes repeat `retryAfter` at the top level. */
function buildRateLimitBody({ path, operation }: Endpoint): ErrorExample {
  const limit = operation['x-rate-limit']?.limit ?? 100;
  const resetAt = new Date(NOW.getTime() + RETRY_AFTER_SECONDS * 1000);
  const body = toErrorBody(tooManyRequests({ limit, remaining: 0, resetAt, isExceeded: true }, NOW));
  return { ...body, ...(path.startsWith('/api/auth/') ? { retryAfter: RETRY_AFTER_SECONDS } : {}) };
}

/** The validation errors of an obviously wrong request; null if the operation validates nothing. */
function buildFieldErrors(operation: ContractOperation | undefined): FieldErrors | null {
  const { body, querystring, consumes } = operation ?? {};
  // Multipart forms are validated while they are read, not by their schema.
  if (body && !consumes) return findFieldErrors(compileValidator(body), [{}, { colour: 'red' }]);
  return querystring ? findFieldErrors(compileQueryValidator(querystring), [{}, { limit: '0' }]) : null;
}

function findFieldErrors(validate: ReturnType<typeof compileValidator>, invalid: unknown[]): FieldErrors | null {
  for (const value of invalid) {
    const result = validate(value);
    if (!result.ok) return result.details;
  }
  return null;
}
