import { ERROR_CODES, type ErrorBody, type ErrorCode, type RateLimitDetails } from '@carillon/contract';
import type { Static } from '@sinclair/typebox';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, ERROR_KINDS, ERROR_MESSAGES, fromDatabaseError, toErrorBody } from '../../errors.ts';

/** `valid`: 400 as `{valid: false, error}`; `authenticated`: 401 as `{authenticated: false}`; `bare`: `{error}`. */
export type ErrorShape = 'standard' | 'valid' | 'authenticated' | 'bare';

declare module 'fastify' {
  interface FastifyContextConfig {
    shape?: ErrorShape;
  }
}

export interface ErrorResponse {
  status: number;
  code: ErrorCode;
  body: Static<typeof ErrorBody> & { retryAfter?: number };
}

export function setErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(async (_request, reply) => answerUnknownRoute(reply));
}

/** Answers an unknown route with 404. */
export const answerUnknownRoute = (reply: FastifyReply) => send(reply, UNKNOWN_ENDPOINT, UNKNOWN_ENDPOINT.body);

const buildResponse = (code: ErrorCode, error: string, message: string): ErrorResponse => ({
  status: ERROR_CODES[code].status,
  code,
  body: { success: false, error, message },
});

const UNKNOWN_ENDPOINT = buildResponse('UNKNOWN_ENDPOINT', 'Not found', 'This endpoint does not exist.');

export function handleError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply) {
  const response = prepareError(error, request, reply);
  const { shape = 'standard', access } = request.routeOptions.config;
  return send(reply, response, toEnvelope(response, shape, access === 'public'));
}

/** Logs an error that is a bug, and sets the headers of its answer. */
export function prepareError(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): ErrorResponse {
  const response = toErrorResponse(error);
  logUnexpected(error, response, request);
  setRetryAfter(error, response, request, reply);
  if (error instanceof AppError && error.kind === 'rate_limited') addRateLimit(error, response, request, reply);
  return response;
}

/** Returns an error as the data of an event, for a stream whose headers are sent, and logs like `handleError`. */
export function toErrorEvent(error: FastifyError | AppError, request: FastifyRequest): Record<string, unknown> {
  const response = toErrorResponse(error);
  logUnexpected(error, response, request);
  return { ...response.body, code: response.code };
}

function toErrorResponse(error: FastifyError | AppError): ErrorResponse {
  const clientError = error instanceof AppError ? null : toClientError(error);
  if (clientError) return clientError;
  const appError = error instanceof AppError ? error : fromDatabaseError(error);
  if (!appError) return INTERNAL_ERROR;
  const { code } = ERROR_KINDS[appError.kind];
  return { status: ERROR_CODES[code].status, code, body: toErrorBody(appError) };
}

const INTERNAL_ERROR = buildResponse('INTERNAL_ERROR', 'Internal server error', ERROR_MESSAGES.internal);

const CLIENT_ERRORS: Record<string, ErrorResponse> = {
  FST_ERR_CTP_INVALID_JSON_BODY: buildResponse('INVALID_JSON', 'Invalid JSON', 'The body is not valid JSON.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: buildResponse(
    'INVALID_CONTENT_TYPE',
    'Invalid content type',
    'Send the body with a Content-Type that this endpoint takes, such as application/json.',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: buildResponse('BODY_TOO_LARGE', 'Body too large', 'The body is larger than allowed.'),
  FST_ERR_BAD_URL: buildResponse('INVALID_ADDRESS', 'Invalid address', ERROR_MESSAGES.invalidPath),
  FST_ERR_MAX_PARAM_LENGTH: UNKNOWN_ENDPOINT,
};

/** Statuses of Fastify and its plugins that keep their meaning; others become 400. */
const CLIENT_CODES: Record<number, ErrorCode> = {
  401: 'AUTH_REQUIRED',
  403: 'INSUFFICIENT_PERMISSIONS',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'RATE_LIMIT_EXCEEDED',
};

/** Returns null for errors that neither Fastify nor a plugin raised about the request. */
function toClientError({ code: name, statusCode }: FastifyError): ErrorResponse | null {
  const known = CLIENT_ERRORS[name];
  if (known) return known;
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return null;
  const code = CLIENT_CODES[statusCode] ?? 'INVALID_REQUEST';
  return buildResponse(code, 'Invalid request', 'The request could not be read.');
}

function logUnexpected(error: FastifyError | AppError, { status }: ErrorResponse, request: FastifyRequest) {
  if (status >= 500 && !(error instanceof AppError)) request.log.error({ err: error }, 'request failed');
}

function setRetryAfter(
  error: FastifyError | AppError,
  { status }: ErrorResponse,
  { server }: FastifyRequest,
  reply: FastifyReply,
) {
  const seconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
  // Many failures of a provider are permanent, and only the provider knows when it recovers.
  const isProvider = error instanceof AppError && error.kind === 'provider_failed';
  if (seconds !== undefined) reply.header('retry-after', seconds);
  else if (status === 503 && !isProvider && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', server.nextRetryAfter());
  }
}

/** Also sets the headers of limits that a service checks, which the hooks of the route do not know. */
function addRateLimit(error: AppError, response: ErrorResponse, request: FastifyRequest, reply: FastifyReply) {
  const { limit, remaining, reset, retryAfter } = (error.details ?? {}) as Partial<RateLimitDetails>;
  const headers = {
    'retry-after': retryAfter,
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': reset,
  };
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.header(name, value);
  const isAuth = request.routeOptions.url?.startsWith('/api/auth/') === true;
  if (isAuth && retryAfter !== undefined) response.body.retryAfter = retryAfter;
}

export function toEnvelope(
  { code, status, body }: ErrorResponse,
  shape: ErrorShape,
  isPublic: boolean,
): Record<string, unknown> {
  switch (shape) {
    case 'authenticated':
      return status === 401 ? { authenticated: false } : body;
    case 'valid':
      return status === 400 ? { valid: false, error: describeInvalid(body) } : body;
    case 'bare': {
      // Errors that every route can have look the same everywhere.
      const isShared = SHARED_CODES.has(code) || (!isPublic && (status === 401 || status === 429));
      if (isShared) return body;
      const { error, message } = body;
      return status === 429 || status === 500 ? { error, message } : { error };
    }
    default:
      return body;
  }
}

const SHARED_CODES: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_ERROR',
  'INVALID_JSON',
  'INVALID_CONTENT_TYPE',
  'BODY_TOO_LARGE',
  'QUOTA_EXCEEDED',
  'MISSING_SCOPE',
  'SESSION_REQUIRED',
  'SERVICE_UNAVAILABLE',
]);

const describeInvalid = ({ error, details }: ErrorResponse['body']) =>
  error === 'Validation error' && details
    ? Object.entries(details)
        .map(([field, messages]) => `${field} ${messages}`)
        .join('; ')
    : error;

/** Bypasses the response schemas, which would remove fields that they do not name. */
function send(reply: FastifyReply, { status, code }: ErrorResponse, body: Record<string, unknown>) {
  return reply
    .code(status)
    .header('x-error-code', code)
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}
