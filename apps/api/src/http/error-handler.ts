import { ERROR_CODES, type ErrorCode, type RateLimitDetails } from '@carillon/contract';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, ERROR_KINDS, ERROR_MESSAGES, fromDatabaseError } from '../errors.ts';

/** `valid`: `{valid: false, error, code}`; `authenticated`: 401 as `{authenticated: false}`; `bare`: `{error, code}`. */
export type ErrorShape = 'standard' | 'valid' | 'authenticated' | 'bare';

declare module 'fastify' {
  interface FastifyContextConfig {
    shape?: ErrorShape;
  }
  interface FastifyInstance {
    /** The `Retry-After` of a 503: as long as the outage has lasted, from 1 s to 30 s. */
    nextRetryAfter(): number;
  }
}

const MAX_RETRY_SECONDS = 30;

export interface ErrorResponse {
  status: number;
  error: string;
  code: ErrorCode;
  message?: string;
  details?: Record<string, unknown>;
  retryAfter?: number;
}

export function setErrorHandlers(app: FastifyInstance, now: () => Date): void {
  measureOutages(app, now);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(async (_request, reply) => answerUnknownRoute(reply));
}

/** An outage begins with the first 503 after a request of a user has succeeded. */
function measureOutages(app: FastifyInstance, now: () => Date): void {
  let beganAt: number | null = null;
  app.decorate('nextRetryAfter', () => {
    const at = now().getTime();
    beganAt ??= at;
    return Math.min(Math.max(Math.ceil((at - beganAt) / 1000), 1), MAX_RETRY_SECONDS);
  });
  app.addHook('onResponse', async ({ routeOptions }, { statusCode }) => {
    if (statusCode < 400 && routeOptions.config.access !== 'public') beganAt = null;
  });
}

/**
 * Answers an unknown route with 404 before the body is read. `answerPage` may answer a browser with a page, and returns
 * whether it has.
 */
export function rejectUnknownRoutes(
  app: FastifyInstance,
  answerPage: (request: FastifyRequest, reply: FastifyReply) => boolean,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    if (!answerPage(request, reply)) answerUnknownRoute(reply);
  });
}

const answerUnknownRoute = (reply: FastifyReply) => send(reply, 404, toEnvelope(UNKNOWN_ENDPOINT, 'standard', true));

const UNKNOWN_ENDPOINT: ErrorResponse = {
  status: 404,
  error: 'Not found',
  code: 'UNKNOWN_ENDPOINT',
  message: 'This endpoint does not exist.',
};

export function handleError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply) {
  const response = prepareError(error, request, reply);
  const { shape = 'standard', access } = request.routeOptions.config;
  return send(reply, response.status, toEnvelope(response, shape, access === 'public'));
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

/** Returns the body of an error for an answer whose status is already sent, and logs like `handleError`. */
export function toErrorBody(error: FastifyError | AppError, request: FastifyRequest): Record<string, unknown> {
  const response = toErrorResponse(error);
  logUnexpected(error, response, request);
  return toEnvelope(response, 'standard', false);
}

function toErrorResponse(error: FastifyError | AppError): ErrorResponse {
  const clientError = error instanceof AppError ? null : toClientError(error);
  if (clientError) return clientError;
  const appError = error instanceof AppError ? error : fromDatabaseError(error);
  if (!appError) return INTERNAL_ERROR;
  const { code, label } = ERROR_KINDS[appError.kind];
  const { message, details } = appError;
  return {
    status: ERROR_CODES[code].status,
    ...(label === undefined ? { error: message, code } : { error: label, code, message }),
    ...(details && { details }),
  };
}

const INTERNAL_ERROR: ErrorResponse = {
  status: 500,
  error: 'Internal server error',
  code: 'INTERNAL_ERROR',
  message: ERROR_MESSAGES.internal,
};

const CLIENT_ERRORS: Record<string, ErrorResponse> = {
  FST_ERR_CTP_INVALID_JSON_BODY: {
    status: 400,
    error: 'Invalid JSON',
    code: 'INVALID_JSON',
    message: 'The body is not valid JSON.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    status: 400,
    error: 'Invalid content type',
    code: 'INVALID_CONTENT_TYPE',
    message: 'Send the body with a Content-Type that this endpoint takes, such as application/json.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    status: 400,
    error: 'Body too large',
    code: 'BODY_TOO_LARGE',
    message: 'The body is larger than allowed.',
  },
  FST_ERR_BAD_URL: {
    status: 400,
    error: 'Invalid address',
    code: 'INVALID_ADDRESS',
    message: ERROR_MESSAGES.invalidPath,
  },
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
  return {
    status: ERROR_CODES[code].status,
    error: 'Invalid request',
    code,
    message: 'The request could not be read.',
  };
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
  if (isAuth && retryAfter !== undefined) response.retryAfter = retryAfter;
}

export function toEnvelope(
  { status, ...error }: ErrorResponse,
  shape: ErrorShape,
  isPublic: boolean,
): Record<string, unknown> {
  const standard = { success: false, ...error };
  const { code } = error;
  const text = VAGUE_LABELS.has(error.error) ? (error.message ?? error.error) : error.error;
  const isValidation = error.error === 'Validation error';
  switch (shape) {
    case 'authenticated':
      return status === 401 ? { authenticated: false } : standard;
    case 'valid':
      // Clients of this route read `valid`, others `success`.
      if (isValidation || status === 503) return { valid: false, ...standard };
      return status === 400 ? { valid: false, error: text, code } : standard;
    case 'bare':
      if (code === 'MISSING_SCOPE' || code === 'SESSION_REQUIRED') return standard;
      // Errors that every route can have look the same everywhere.
      if (isValidation || status === 402 || status === 503) return standard;
      if (!isPublic && (status === 401 || status === 429)) return standard;
      return status === 429 || status === 500
        ? { error: error.error, code, message: error.message }
        : { error: text, code };
    default:
      return standard;
  }
}

const VAGUE_LABELS = new Set(['Unauthorized', 'Service unavailable']);

/** Bypasses the response schemas, which would remove fields that they do not name. */
function send(reply: FastifyReply, status: number, body: Record<string, unknown>) {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}
